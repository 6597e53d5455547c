"""The paper's own linear program, as printed, to compare with (Paper: eq:LP, §4.2).

``paper`` enforces geo-indistinguishability between the twelve neighbours of every cell only, at one
edge length a. By transitivity (Paper: Theorem 4.1) that is the same as enforcing it between all
cells over the graph's distances ``d_G``, so our own engine solves the very same problem by taking
``eps·d_G`` for its rates; HiGHS solves it as it stands. The edge length defaults to the smallest
spacing, the largest that Lemma 4.1 allows; a wrong one is possible on purpose. (Like ``exact``, the
engine keeps a few billionths of epsilon back, so that what should hold can be sealed.)

``paper-full`` is the same program without the approximation: all pairs, K³ constraints, for HiGHS.
What either truly promises is in the audit of the result, over true distances.
"""

from __future__ import annotations

import time
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidInput
from geocorgi.generate.exact import Progress
from geocorgi.generate.generated import Evidence, Generated, judged
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.solver import solve_whole
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.matrix.sealing import epsilon_to_solve
from geocorgi.tree.cells import is_cell
from geocorgi.tree.hex_graph import hex_graph, hops


class Solver(StrEnum):
    """Who solves the paper's program."""

    ENGINE = "engine"
    HIGHS = "highs"


def paper(
    problem: ObfuscationProblem,
    spacing_km: float | None = None,
    solver: Solver = Solver.ENGINE,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Generated:
    """Return the optimum of the graph-approximated program; its bound is one on that program."""
    started = time.perf_counter()
    joined = _graph(problem)
    spacing = _spacing(problem, spacing_km)
    if solver is Solver.HIGHS:
        rates = problem.epsilon_per_km * spacing * joined.astype(np.float64)
        shares = solve_whole(rates, joined, problem.costs)
        evidence = Evidence("paper (HiGHS)", time.perf_counter() - started)
        return judged(problem, shares, evidence)
    lengths = spacing * hops(joined)
    solution = solve(
        epsilon_to_solve(problem.epsilon_per_km, problem.distances_km) * lengths,
        problem.costs,
        metric=True,
        proof_rates=problem.epsilon_per_km * lengths,
        limits=limits,
        on_progress=on_progress,
    )
    evidence = Evidence(
        method=f"paper ({solution.method})",
        seconds=time.perf_counter() - started,
        lower_bound_km=solution.lower_bound,
        rounds=solution.rounds,
        stopped_by=solution.stopped_by,
    )
    return judged(problem, solution.probabilities, evidence)


def paper_full(problem: ObfuscationProblem) -> Generated:
    """Return the optimum over all pairs as HiGHS finds it, solver dust and all."""
    started = time.perf_counter()
    pairs = ~np.eye(len(problem.places), dtype=np.bool_)
    shares = solve_whole(problem.epsilon_per_km * problem.distances_km, pairs, problem.costs)
    return judged(problem, shares, Evidence("paper-full (HiGHS)", time.perf_counter() - started))


def _graph(problem: ObfuscationProblem) -> NDArray[np.bool_]:
    if not all(is_cell(place) for place in problem.places):
        raise InvalidInput(
            "the paper's graph joins H3 cells; for a list of points use the method 'exact'"
        )
    joined = hex_graph(problem.places)
    if np.isinf(hops(joined)).any():
        raise InvalidInput("the cells are not all joined to each other by neighbours")
    return joined


def _spacing(problem: ObfuscationProblem, spacing_km: float | None) -> float:
    if spacing_km is None:
        apart = problem.distances_km[problem.distances_km > 0]
        return float(apart.min()) if apart.size else 1.0
    if not 0 < spacing_km < np.inf:
        raise InvalidInput(f"the edge length is a positive number of km, not {spacing_km:g}")
    return spacing_km
