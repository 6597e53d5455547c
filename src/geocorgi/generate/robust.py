"""Matrices that keep their promise whatever the user removes (Paper: §4.4, Algorithm 1)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from geocorgi.errors import InvalidInput, NotPrivate
from geocorgi.generate.exact import exact
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import Floats
from geocorgi.generate.robust_reserves import Iterate, Pruning, Reserving, Step, without_clock
from geocorgi.generate.universal import universal
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Certificate, Rows, certify, own_columns
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import ROOM_KM, epsilon_to_solve, seal

MOST_ROUNDS = 16
CLOSING_ROUNDS = 5
MOST_TIGHTENINGS = 6
TIGHTENING = 1e-4
NEARLY = 1e-4
SETTLED = 5e-3
LOSS_FOR_EPSILON = 3.0  # a loss falls about with this power of epsilon

# Where the reserves start, as a share of eps·d, and how they move: the first that settles is it.
WAYS = {
    Rows.DROP: ((0.0, Step(1.0, 1.0)), (0.5, Step(0.5, 0.25))),
    Rows.KEEP: ((0.5, Step(1.0, 0.5)), (0.5, Step(0.5, 0.25))),
}


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round: the loss in km of its matrix and the largest change of an entry."""

    loss_km: float
    change: float


@dataclass(frozen=True, slots=True)
class Robust:
    """A sealed matrix that is δ-prunable, with its certificate.

    ``lower_bound_km`` is one on the inner linear program at the last reserves, not on the best
    δ-prunable matrix; None where no program was solved.
    """

    problem: ObfuscationProblem
    sealed: SealedMatrix
    epsilon_per_km: float
    delta: int
    rows: Rows
    certificate: Certificate
    loss_km: float
    method: str
    iterations: tuple[Iteration, ...]
    lower_bound_km: float | None
    seconds: float


Progress = Callable[[Iteration], None]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sealed matrix with its proof."""

    sealed: SealedMatrix
    certificate: Certificate
    loss_km: float
    method: str
    lower_bound_km: float | None


def robust(
    problem: ObfuscationProblem,
    delta: int,
    rows: Rows = Rows.KEEP,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Robust:
    """Return a sealed matrix that is δ-prunable by the exact certificate, or raise.

    The best certified one of several: the optimum at half of epsilon, which no pruning of any
    size can break (THEORY §3), and where the reserves of different ways of adjusting them end.
    ``limits`` bound every single solve, and never by the clock.
    """
    started = time.perf_counter()
    _require_delta(problem, delta)
    limits = without_clock(limits)
    history = _History(on_progress)
    if delta == 0:
        candidates = [_without_pruning(problem, Rows(rows), limits)]
    else:
        candidates = [_universal(problem, delta, Rows(rows), limits)]
        candidates += _adjusted(problem, delta, Rows(rows), limits, history)
    best = min(candidates, key=lambda candidate: candidate.loss_km)
    return Robust(
        problem=problem,
        sealed=best.sealed,
        epsilon_per_km=problem.epsilon_per_km,
        delta=delta,
        rows=Rows(rows),
        certificate=best.certificate,
        loss_km=best.loss_km,
        method=best.method,
        iterations=tuple(history.iterations),
        lower_bound_km=best.lower_bound_km,
        seconds=time.perf_counter() - started,
    )


class _History:
    """The iterations so far, told as they come."""

    def __init__(self, on_progress: Progress | None) -> None:
        self.iterations: list[Iteration] = []
        self._on_progress = on_progress
        self._last: Floats | None = None

    def add(self, iterate: Iterate) -> None:
        """Note one more."""
        matrix = iterate.solution.probabilities
        change = 0.0 if self._last is None else float(np.abs(matrix - self._last).max())
        self._last = matrix
        self.iterations.append(Iteration(iterate.loss_km, change))
        if self._on_progress is not None:
            self._on_progress(self.iterations[-1])


def _without_pruning(problem: ObfuscationProblem, rows: Rows, limits: Limits) -> _Candidate:
    generated = exact(problem, limits)
    bound = generated.evidence.lower_bound_km
    return _certified(problem, generated.matrix, 0, rows, ("exact", bound))


def _universal(problem: ObfuscationProblem, delta: int, rows: Rows, limits: Limits) -> _Candidate:
    """Return the better of two matrices that are private after every pruning of every size."""
    narrower = epsilon_to_solve(problem.epsilon_per_km, problem.distances_km)
    exponential = universal(replace(problem, epsilon_per_km=narrower))
    halved = exact(replace(problem, epsilon_per_km=narrower / 2), limits)
    if halved.loss_km < exponential.loss_km:
        name = "universal (optimum at half of epsilon)"
        return _certified(problem, halved.matrix, delta, rows, (name, None))
    return _certified(problem, exponential.matrix, delta, rows, ("universal (exponential)", None))


def _adjusted(
    problem: ObfuscationProblem, delta: int, rows: Rows, limits: Limits, history: _History
) -> list[_Candidate]:
    """Return the certified matrices to which adjusting the reserves leads."""
    narrower = epsilon_to_solve(problem.epsilon_per_km, problem.distances_km)
    exponents = narrower * problem.distances_km
    own = own_columns(problem.places, problem.reportable) if rows is Rows.DROP else None
    candidates = []
    for start, step in WAYS[rows]:
        reserving = Reserving(problem, exponents, Pruning(delta, own), limits, history.add)
        iterate = _settled(reserving, start * exponents, step)
        candidate = _closed(reserving, iterate, delta, rows)
        candidates += [] if candidate is None else [candidate]
        if candidate is not None and iterate.factor <= 1 + SETTLED:
            break
    return candidates


def _settled(reserving: Reserving, reserves: Floats, step: Step) -> Iterate:
    """Return the most promising iterate: a small loss that needs little more than epsilon."""
    best, last = None, np.inf
    for count, iterate in enumerate(reserving.settling(reserves, step)):
        if best is None or _promise(iterate) < _promise(best):
            best = iterate
        settled = abs(iterate.loss_km - last) <= NEARLY * iterate.loss_km
        last = iterate.loss_km
        if (settled and iterate.factor <= 1 + NEARLY) or count + 1 == MOST_ROUNDS:
            break
    assert best is not None  # noqa: S101 - settling yields at least once
    return best


def _promise(iterate: Iterate) -> float:
    """Return a loss to expect once the matrix keeps to epsilon."""
    return float(iterate.loss_km * max(iterate.factor, 1.0) ** LOSS_FOR_EPSILON)


def _closed(reserving: Reserving, iterate: Iterate, delta: int, rows: Rows) -> _Candidate | None:
    """Return the matrix once it is certified; None where it does not come to that."""
    problem = reserving.problem
    for _ in range(MOST_TIGHTENINGS):
        iterate = reserving.closed(iterate, CLOSING_ROUNDS)
        matrix = ObfuscationMatrix(
            problem.places, problem.reportable, problem.level, iterate.solution.probabilities
        )
        bound = iterate.solution.lower_bound
        try:
            return _certified(problem, matrix, delta, rows, ("exact", bound))
        except NotPrivate:
            reserving.exponents = reserving.exponents * (1 - TIGHTENING)
            iterate = reserving.solved(iterate.reserves)
    return None


def _certified(
    problem: ObfuscationProblem,
    matrix: ObfuscationMatrix,
    delta: int,
    rows: Rows,
    evidence: tuple[str, float | None],
) -> _Candidate:
    sealed, certificate = sealed_and_certified(problem, matrix, delta, rows)
    return _Candidate(sealed, certificate, sealed_loss_km(problem, sealed), *evidence)


def sealed_and_certified(
    problem: ObfuscationProblem, matrix: ObfuscationMatrix, delta: int, rows: Rows
) -> tuple[SealedMatrix, Certificate]:
    """Seal the matrix and prove it δ-prunable over the shortened distances, or raise NotPrivate."""
    sealed = seal(matrix, problem.distances_km, problem.epsilon_per_km).matrix
    certificate = certify(
        sealed.weights,
        np.maximum(problem.distances_km - ROOM_KM, 0),
        problem.epsilon_per_km,
        delta,
        rows,
        own_columns(sealed.row_cells, sealed.column_cells),
    )
    if not certificate.holds:
        raise NotPrivate(
            f"the matrix is not {delta}-prunable at {problem.epsilon_per_km:g} per km: it needs "
            f"{certificate.smallest_epsilon_per_km:.12g}"
        )
    return sealed, certificate


def sealed_loss_km(problem: ObfuscationProblem, sealed: SealedMatrix) -> float:
    """Return the quality loss of the sealed weights (Paper: eq:matrix_gen)."""
    totals = np.array([float(total) for total in sealed.row_totals])
    return float((problem.costs * (sealed.weights / totals[:, None])).sum())


def _require_delta(problem: ObfuscationProblem, delta: int) -> None:
    most = len(problem.reportable) - 2
    if isinstance(delta, bool) or not isinstance(delta, int) or not 0 <= delta <= max(most, 0):
        raise InvalidInput(
            f"delta is a whole number from 0 to {max(most, 0)} for {len(problem.reportable)} "
            f"reportable places, not {delta!r}"
        )
