"""The paper's own robust generation, as printed, to compare with (Paper: §4.4, Algorithm 1).

The linear program over the graph's neighbours, then ``t`` times: Eq. 14 (eq:approximateepsilon) on
the matrix at hand, and the program again with ``eps·d − eps'·d`` for each neighbour (eq:aec,
eq:RLP). Row i of Eq. 14 is what its proof is about; row j is what is printed. Where the reserve
exceeds ``eps·d`` the program asks for something else than it should: the optional cap of the
authors' code, ``min(R, e^{eps·d})``, keeps it solvable and hides that.

What comes out is judged at the end and not trusted: the certificate says at which epsilon it is
δ-prunable, if at any.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import GenerationFailed, InvalidInput
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.solution import WarmStart
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import ApproximationRow, Floats, approximate_budget
from geocorgi.generate.robust import Iteration, Progress
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Certificate, Rows, certify, own_columns
from geocorgi.tree.cells import is_cell
from geocorgi.tree.hex_graph import hex_graph, hops

FAR = 1e6  # no rate at all, for the closure to find the way through neighbours
SEALABLE = 2.0**-52


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """How Algorithm 1 is run: ``t``, the row of Eq. 14, the cap, the graph's edge length.

    As printed, S of Eq. 14 may hold the row's own column. Where pruned rows leave it never does,
    and sparing it (``spares_own``) is kinder to the paper.
    """

    iterations: int = 10
    row: ApproximationRow = ApproximationRow.PROOF
    capped: bool = True
    spacing_km: float | None = None
    spares_own: bool = False


@dataclass(frozen=True, slots=True)
class PaperRobust:
    """The last matrix, the quantities of Fig. 6 and the truth about δ-prunability."""

    problem: ObfuscationProblem
    matrix: ObfuscationMatrix
    loss_km: float
    delta: int
    certificate: Certificate
    iterations: tuple[Iteration, ...]
    capped_edges: int
    seconds: float


def robust_paper(
    problem: ObfuscationProblem,
    delta: int,
    rows: Rows = Rows.DROP,
    settings: PaperSettings | None = None,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> PaperRobust:
    """Run Algorithm 1 and certify its result over true distances (``rows``: how it is judged)."""
    tell = on_progress or (lambda _: None)
    started = time.perf_counter()
    settings = settings or PaperSettings()
    edges, length = _graph(problem, settings)
    exponents = problem.epsilon_per_km * length
    own = own_columns(problem.places, problem.reportable)
    spared = own if settings.spares_own else None
    budget = np.zeros(problem.distances_km.shape)
    shares, warm = _solved(problem, edges, exponents - budget, limits, None)
    iterations = [Iteration(_loss_km(problem, shares), 0.0)]
    tell(iterations[0])
    capped = 0
    for _ in range(settings.iterations):
        spread = np.full(budget.shape, exponents)
        np.fill_diagonal(spread, 0.0)
        budget = approximate_budget(shares, spread, delta, settings.row, spared)
        capped = int(np.count_nonzero(edges & (budget >= exponents)))
        if capped and not settings.capped:
            raise GenerationFailed(
                f"the reserve exceeds eps·d on {capped} edges: Algorithm 1 has no answer here"
            )
        before = shares
        shares, warm = _solved(
            problem, edges, exponents - np.minimum(budget, exponents), limits, warm
        )
        change = float(np.abs(shares - before).max())
        iterations.append(Iteration(_loss_km(problem, shares), change))
        tell(iterations[-1])
    matrix = ObfuscationMatrix(problem.places, problem.reportable, problem.level, shares)
    certificate = certify(
        matrix.weights,
        problem.distances_km,
        problem.epsilon_per_km,
        delta,
        rows,
        own,
    )
    seconds = time.perf_counter() - started
    loss = iterations[-1].loss_km
    return PaperRobust(
        problem, matrix, loss, delta, certificate, tuple(iterations), capped, seconds
    )


def _graph(problem: ObfuscationProblem, settings: PaperSettings) -> tuple[NDArray[np.bool_], float]:
    if not all(is_cell(place) for place in problem.places):
        raise InvalidInput("the paper's graph joins H3 cells, not points of a list")
    edges = hex_graph(problem.places)
    if np.isinf(hops(edges)).any():
        raise InvalidInput("the cells are not all joined to each other by neighbours")
    if settings.spacing_km is not None:
        return edges, settings.spacing_km
    apart = problem.distances_km[problem.distances_km > 0]
    return edges, float(apart.min()) if apart.size else 1.0


def _solved(
    problem: ObfuscationProblem,
    edges: NDArray[np.bool_],
    rates: Floats,
    limits: Limits | None,
    warm: WarmStart | None,
) -> tuple[Floats, WarmStart]:
    """Solve the program with one rate an edge; far pairs follow from neighbours (Theorem 4.1)."""
    table = np.where(edges, rates, FAR)
    np.fill_diagonal(table, 0.0)
    solution = solve(table, problem.costs, limits=limits, warm_start=warm)
    # Entries of exactly zero, or sums off by rounding, are the solver's and not the paper's.
    shares = solution.probabilities + SEALABLE
    return shares / shares.sum(axis=1, keepdims=True), solution.warm_start


def _loss_km(problem: ObfuscationProblem, shares: Floats) -> float:
    return float((problem.costs * shares).sum())
