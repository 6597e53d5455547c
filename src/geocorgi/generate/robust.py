"""Matrices that keep their promise whatever the user removes (Paper: §4.4, Algorithm 1; ADR 6)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from geocorgi.errors import InvalidInput, NotPrivate
from geocorgi.generate.column_cones import MOST_PLACES
from geocorgi.generate.exact import exact
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.optimum.safe_bound import relative_gap
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import Floats
from geocorgi.generate.robust_candidate import Candidate, Removal, certified
from geocorgi.generate.robust_columns import Columns, Judged
from geocorgi.generate.robust_monotone import CapStep, Lowering
from geocorgi.generate.robust_reserves import Iterate, Pruning, Reserving, without_clock
from geocorgi.generate.robust_ways import Way, is_uniform, settles, ways_of
from geocorgi.generate.universal import universal
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Certificate, Rows, own_columns
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import epsilon_to_solve

CLOSING_ROUNDS = 5
MOST_TIGHTENINGS = 6
TIGHTENING = 1e-4
ENOUGH = 1e-2  # of the loss: what another matrix under the same reserves could save at most


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round: the loss in km of its matrix and the largest change of an entry."""

    loss_km: float
    change: float


@dataclass(frozen=True, slots=True)
class Robust:
    """A sealed matrix that is δ-prunable, with its certificate.

    ``lower_bound_km`` is one on the inner linear program at the last reserves, not on the best
    δ-prunable matrix; None where no such program was solved.
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


def robust(
    problem: ObfuscationProblem,
    delta: int,
    rows: Rows = Rows.KEEP,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Robust:
    """Return a sealed matrix that is δ-prunable by the exact certificate, or raise.

    The best certified one of several: the optimum at half of epsilon, which no pruning of any
    size can break (ADR 6), and where the reserves of different ways of adjusting them end; if
    these are no better, the monotone variant's.
    ``limits`` bound every single solve, and never by the clock.
    """
    return _answered(_adjusted, problem, Removal(delta, rows), limits, on_progress)


def monotone(
    problem: ObfuscationProblem,
    delta: int,
    rows: Rows = Rows.KEEP,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Robust:
    """Return the sealed and certified matrix of the monotone variant alone, or raise (ADR 6).

    Every round is δ-prunable by its caps, and costs no more than the one before. ``robust`` falls
    back on it where nothing else beats what survives every pruning.
    """
    return _answered(_capped, problem, Removal(delta, rows), limits, on_progress)


def _answered(
    way: Callable[[ObfuscationProblem, Removal, Limits, _History], Candidate],
    problem: ObfuscationProblem,
    removal: Removal,
    limits: Limits | None,
    on_progress: Progress | None,
) -> Robust:
    """Return what the way leads to, with its evidence."""
    started = time.perf_counter()
    _require_delta(problem, removal.delta)
    removal, limits = replace(removal, rows=Rows(removal.rows)), without_clock(limits)
    history = _History(on_progress)
    if removal.delta == 0:
        best = _without_pruning(problem, removal, limits)
    else:
        best = way(problem, removal, limits, history)
    return Robust(
        problem=problem,
        sealed=best.sealed,
        epsilon_per_km=problem.epsilon_per_km,
        delta=removal.delta,
        rows=removal.rows,
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

    def add(self, matrix: Floats, loss_km: float) -> None:
        """Note one more."""
        change = 0.0 if self._last is None else float(np.abs(matrix - self._last).max())
        self._last = matrix
        self.iterations.append(Iteration(loss_km, change))
        if self._on_progress is not None:
            self._on_progress(self.iterations[-1])


def _without_pruning(problem: ObfuscationProblem, removal: Removal, limits: Limits) -> Candidate:
    generated = exact(problem, limits)
    bound = generated.evidence.lower_bound_km
    return certified(problem, generated.matrix, removal, "exact", bound)


def _universal(problem: ObfuscationProblem, removal: Removal, limits: Limits) -> Candidate:
    """Return the better of two matrices that are private after every pruning of every size."""
    narrower = epsilon_to_solve(problem.epsilon_per_km, problem.distances_km)
    exponential = universal(replace(problem, epsilon_per_km=narrower))
    halved = exact(replace(problem, epsilon_per_km=narrower / 2), limits)
    if halved.loss_km < exponential.loss_km:
        name = "universal (optimum at half of epsilon)"
        return certified(problem, halved.matrix, removal, name)
    return certified(problem, exponential.matrix, removal, "universal (exponential)")


def _adjusted(
    problem: ObfuscationProblem, removal: Removal, limits: Limits, history: _History
) -> Candidate:
    """Return the best of what no pruning can break and of where adjusting the reserves ends.

    Where that is nowhere better, caps are lowered step by step, each step safe.
    """
    safe = best = _universal(problem, removal, limits)
    done = set[bool]()
    for found in _by_columns(problem, removal, history):
        done = {True, False} if _enough(problem, found) else {True}
        best = min(best, found, key=_loss_of)
    for way in ways_of(problem, removal.rows):
        if way.flat in done:
            continue
        reserving = _reserving(way, problem, removal, limits, history)
        iterate = way.settled(reserving, best.loss_km)
        if iterate is None:
            continue
        closed = _closed(reserving, iterate, removal, way.name)
        if closed is not None and settles(iterate):
            done.add(way.flat)
        if closed is not None:
            best = min(best, closed, key=_loss_of)
    if best is safe and len(problem.places) <= MOST_PLACES:
        lowered = _lowered(problem, removal, limits, history, safe)
        best = safe if lowered is None else min(safe, lowered, key=_loss_of)
    return best


def _capped(
    problem: ObfuscationProblem, removal: Removal, limits: Limits, history: _History
) -> Candidate:
    """Return the monotone variant's matrix."""
    safe = _universal(problem, removal, limits)
    found = _lowered(problem, removal, limits, history, safe)
    if found is None:
        raise NotPrivate("what the caps promise was lost to rounding; use robust()")
    return found


def _lowered(
    problem: ObfuscationProblem,
    removal: Removal,
    limits: Limits,
    history: _History,
    safe: Candidate,
) -> Candidate | None:
    """Return the best matrix under caps on the largest entries of its rows, if it is certified."""
    lowering = Lowering(problem, _exponents(problem), _pruning(problem, removal), limits)

    def told(step: CapStep) -> None:
        history.add(step.found.matrix, step.found.loss)

    best = lowering.cheapest(safe.sealed.weights / safe.sealed.row_totals[0], told).found
    matrix = ObfuscationMatrix(problem.places, problem.reportable, problem.level, best.matrix)
    try:
        return certified(problem, matrix, removal, "monotone (caps)", best.lower_bound)
    except NotPrivate:
        return None


def _by_columns(
    problem: ObfuscationProblem, removal: Removal, history: _History
) -> Iterator[Candidate]:
    """Yield the matrices with a reserve for each pair and column that come to be certified."""

    def told(shares: Floats) -> None:
        history.add(shares, float((problem.costs * shares).sum()))

    columns = Columns(problem, _exponents(problem), _pruning(problem, removal), told)
    settled = columns.settled()
    found = None if settled is None else _certified_columns(columns, settled, removal)
    if found is not None:
        yield found
    if found is None or not _enough(problem, found):
        mixed = columns.mixed(settled)
        found = None if mixed is None else _certified_columns(columns, mixed, removal)
        if found is not None:
            yield found


def _certified_columns(columns: Columns, one: Judged, removal: Removal) -> Candidate | None:
    problem = columns.problem
    matrix = ObfuscationMatrix(problem.places, problem.reportable, problem.level, one.made.matrix)
    bound = one.bound_km(problem.costs)
    try:
        return certified(problem, matrix, removal, "exact (a reserve for each column)", bound)
    except NotPrivate:
        return None


def _enough(problem: ObfuscationProblem, found: Candidate) -> bool:
    """Say whether other matrices under the same reserves cost hardly less.

    Where there are too many places for a proof: whether the prior is uniform, for which the closed
    form has been proved good enough wherever it could be.
    """
    if found.lower_bound_km is None:
        return is_uniform(problem)
    return relative_gap(found.loss_km, found.lower_bound_km) <= ENOUGH


def _loss_of(found: Candidate) -> float:
    return found.loss_km


def _exponents(problem: ObfuscationProblem) -> Floats:
    return epsilon_to_solve(problem.epsilon_per_km, problem.distances_km) * problem.distances_km


def _pruning(problem: ObfuscationProblem, removal: Removal) -> Pruning:
    own = own_columns(problem.places, problem.reportable)
    return Pruning(removal.delta, own if removal.rows is Rows.DROP else None)


def _reserving(
    way: Way, problem: ObfuscationProblem, removal: Removal, limits: Limits, history: _History
) -> Reserving:
    def told(iterate: Iterate) -> None:
        history.add(iterate.solution.probabilities, iterate.loss_km)

    exponents, pruning = _exponents(problem), _pruning(problem, removal)
    return Reserving(problem, way.costs(problem), exponents, pruning, limits, told)


def _closed(
    reserving: Reserving, iterate: Iterate, removal: Removal, method: str
) -> Candidate | None:
    """Return the matrix once it is certified; None where it does not come to that."""
    problem = reserving.problem
    for _ in range(MOST_TIGHTENINGS):
        iterate = reserving.closed(iterate, CLOSING_ROUNDS)
        matrix = ObfuscationMatrix(
            problem.places, problem.reportable, problem.level, iterate.solution.probabilities
        )
        try:
            return certified(problem, matrix, removal, method, reserving.bound_km(iterate))
        except NotPrivate:
            reserving.exponents = reserving.exponents * (1 - TIGHTENING)
            iterate = reserving.solved(iterate.reserves)
    return None


def _require_delta(problem: ObfuscationProblem, delta: int) -> None:
    most = len(problem.reportable) - 2
    if isinstance(delta, bool) or not isinstance(delta, int) or not 0 <= delta <= max(most, 0):
        raise InvalidInput(
            f"delta is a whole number from 0 to {max(most, 0)} for {len(problem.reportable)} "
            f"reportable places, not {delta!r}"
        )
