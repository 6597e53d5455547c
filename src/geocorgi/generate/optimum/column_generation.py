"""The spine: from rates and costs to a provably optimal matrix.

    rays -> master -> duals -> prices -> (bound, more rays) -> master -> ...

Every round solves two masters on the same rays. The free one gives the best mixture, hence a
feasible matrix and its loss. The one held near the best duals known gives the duals to price:
without the centre they jump for dozens of rounds.

``solve`` stops on the gap; on the work, when a limit is given; on the clock only when a limit is
given. Ctrl-C, during the solve or raised by ``on_progress``, returns the best matrix so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from geocorgi.errors import InvalidProblem, LossBelowBound
from geocorgi.generate.optimum.closed_form import closed_form
from geocorgi.generate.optimum.cone import Cone, Floats, cone_of, flat_tops, projected
from geocorgi.generate.optimum.interior_point import Centre, solve_master
from geocorgi.generate.optimum.pool import Pool, assembled, joined, pool_of, trimmed
from geocorgi.generate.optimum.pricing import Pricer, Prices
from geocorgi.generate.optimum.repair import repaired
from geocorgi.generate.optimum.safe_bound import lower_bound, relative_gap, trivial_bound
from geocorgi.generate.optimum.solution import Solution, WarmStart
from geocorgi.generate.optimum.twins import twins_of

Progress = Callable[[float, float, float, float], None]

FIRST_STIFFNESS = 0.1
FIRST_TOLERANCE = 0.1
FINEST_TOLERANCE = 1e-10
MOST_RAYS_PER_PLACE = 10
RAYS_KEPT_PER_PLACE = 7
MOST_IDLE_ROUNDS = 6
MOST_FRUITLESS_ROUNDS = 60
FEW_PLACES = 500


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop: at the gap, after so many pricing solves, or after so many seconds."""

    gap: float = 1e-4
    work: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class _Search:
    """What is known so far."""

    cone: Cone
    costs: Floats
    limits: Limits
    pool: Pool
    pricer: Pricer
    bound: float
    loss: float = np.inf
    matrix: Floats | None = None
    centre: Floats | None = None
    duals: Floats | None = None
    stiffness: float = FIRST_STIFFNESS
    tolerance: float = FIRST_TOLERANCE
    rounds: int = 0
    idle: int = 0
    fruitless: int = 0
    solves: int = 0
    method: str = "column generation"
    started: float = field(default_factory=time.monotonic)

    @property
    def gap(self) -> float:
        return relative_gap(self.loss, self.bound)

    @property
    def scale(self) -> float:
        """The mean row loss: in this unit the solver's absolute tolerances mean something."""
        loss = self.loss if np.isfinite(self.loss) else float(self.pool.costs[0])
        return max(loss / self.cone.size, 1e-300)

    def expired(self) -> bool:
        seconds = self.limits.seconds
        return seconds is not None and time.monotonic() - self.started > seconds

    def reason_to_stop(self) -> str | None:
        if self.gap <= self.limits.gap:
            return "gap"
        if self.expired():
            return "time"
        if self.limits.work is not None and self.solves >= self.limits.work:
            return "work"
        stuck = self.idle >= MOST_IDLE_ROUNDS or self.fruitless >= MOST_FRUITLESS_ROUNDS
        return "no progress" if stuck else None


def solve(  # noqa: PLR0913 - the problem, when to stop, where to begin, whom to tell
    rates: Floats,
    costs: Floats,
    *,
    metric: bool = False,
    proof_rates: Floats | None = None,
    limits: Limits | None = None,
    warm_start: WarmStart | None = None,
    on_progress: Progress | None = None,
) -> Solution:
    """Minimise ``sum costs * Z`` over row-stochastic Z with ``Z_il <= exp(rates_ij) Z_jl``.

    With ``proof_rates`` (none below ``rates``) the lower bound is one on the problem with those,
    and the matrix still keeps to ``rates``: the gap then says what the difference costs too.

    Linear algebra on few places gains nothing from a second thread, loses much to it on a busy
    machine, and would round by the number of cores: there it has one.
    """
    cone = cone_of(rates, metric=metric)
    proof_cone = cone if proof_rates is None else _wider(cone, proof_rates, metric=metric)
    twins = twins_of(proof_cone)
    costs = twins.summed(_checked(costs, cone))
    cone, proof_cone = twins.merged(cone), twins.merged(proof_cone)
    warm = None if warm_start is None else twins.merged_start(warm_start)
    with threadpool_limits(1 if cone.size <= FEW_PLACES else None, user_api="blas"):
        search = _begin(cone, Pricer(cone, proof_cone, costs), costs, limits or Limits(), warm)
        stop = _search(search, on_progress)
    return twins.spread(_finished(search, stop))


def _search(search: _Search, on_progress: Progress | None) -> str:
    """Go on until there is a reason to stop, and return it."""
    try:
        _try_closed_form(search)
        stop = _report(search, on_progress)
        if stop is None and search.cone.size <= FEW_PLACES:
            search.pool = joined(search.pool, pool_of(flat_tops(search.cone), search.costs))
        while stop is None:
            _round(search)
            stop = _report(search, on_progress)
    except KeyboardInterrupt:
        stop = "interrupt"
    return stop


def _checked(costs: Floats, cone: Cone) -> Floats:
    costs = np.array(costs, dtype=np.float64)
    if costs.ndim != 2 or len(costs) != cone.size or not costs.shape[1]:
        raise InvalidProblem(f"expected costs with {cone.size} rows, got shape {costs.shape}")
    if not np.isfinite(costs).all() or costs.min() < 0:
        raise InvalidProblem("expected finite costs of at least 0")
    return costs


def _wider(cone: Cone, proof_rates: Floats, *, metric: bool) -> Cone:
    proof_cone = cone_of(proof_rates, metric=metric)
    if proof_cone.size != cone.size or (proof_cone.rates < cone.rates).any():
        raise InvalidProblem("the rates of the proof are of the same places, and none is lower")
    return proof_cone


def _begin(
    cone: Cone, pricer: Pricer, costs: Floats, limits: Limits, warm: WarmStart | None
) -> _Search:
    pool = pool_of(np.hstack([np.ones((cone.size, 1)), cone.kernel]), costs)
    if warm is not None:
        pool = joined(pool, pool_of(projected(cone, warm.rays), costs))
    search = _Search(cone, costs, limits, pool, pricer, trivial_bound(costs))
    # Everyone reports the same column: always feasible, so there is always something to return.
    search.matrix = assembled(pool, np.eye(1, pool.size)[0], costs.shape[1])
    search.loss = _loss(costs, search.matrix)
    search.centre = None if warm is None else warm.duals
    return search


def _try_closed_form(search: _Search) -> None:
    size = search.cone.size
    kernel_rays = pool_of(search.cone.kernel, search.costs)
    candidate = closed_form(search.cone, kernel_rays)
    if candidate is None:
        return
    _accept(search, assembled(kernel_rays, candidate.weights, search.costs.shape[1]))
    before = search.loss
    prices = search.pricer.price(candidate.duals, _negligible(search), search.expired)
    _use(search, candidate.duals, prices)
    if search.gap <= search.limits.gap and search.loss == before and size > 1:
        search.method = "closed form"


def _round(search: _Search) -> None:
    search.rounds += 1
    known = (search.loss, search.bound)
    duals = free = None
    if _wants_free_master(search):
        free = duals = _free_duals(search)
    if search.centre is not None and (free is None or search.cone.size <= FEW_PLACES):
        duals = _held_duals(search, search.centre)
    if search.expired():
        return
    assert duals is not None  # noqa: S101 - one of the two masters has been solved
    prices = search.pricer.price(duals, _negligible(search), search.expired)
    _use(search, duals, prices)
    _trim(search, duals if free is None else free)
    _adapt(search, known, prices)


def _free_duals(search: _Search) -> Floats:
    """Mix the rays as well as can be, and return what that makes the rows worth."""
    pool, scale = search.pool, search.scale
    point = solve_master(pool.rays, pool.costs / scale, search.tolerance, expired=search.expired)
    _accept(search, assembled(pool, point.weights, search.costs.shape[1]))
    duals: Floats = point.duals * scale
    return duals


def _held_duals(search: _Search, middle: Floats) -> Floats:
    """Return duals that stay near the best ones known."""
    pool, scale = search.pool, search.scale
    middle = middle / scale
    centre = Centre(middle, search.stiffness / (np.abs(middle) + 0.1))
    point = solve_master(pool.rays, pool.costs / scale, search.tolerance, centre, search.expired)
    duals: Floats = point.duals * scale
    return duals


def _wants_free_master(search: _Search) -> bool:
    """Few places: both masters every round. Many: they take turns, the duals first."""
    if search.cone.size <= FEW_PLACES or search.centre is None:
        return True
    return search.rounds % 2 == 0


def _negligible(search: _Search) -> float:
    """Return what a column may hide without being noticed in the gap."""
    return 0.1 * search.limits.gap * search.scale


def _accept(search: _Search, matrix: Floats) -> None:
    fixed = repaired(search.cone, matrix, search.costs)
    if fixed is None:
        return
    loss = _loss(search.costs, fixed)
    if loss < search.loss:
        search.loss, search.matrix = loss, fixed


def _use(search: _Search, duals: Floats, prices: Prices) -> None:
    search.solves += prices.solves
    bound = lower_bound(duals, prices.excess)
    if search.centre is None and bound <= search.bound:
        # First duals can be so far off that those of the trivial bound are the better centre.
        search.centre = search.duals = search.costs.min(axis=1)
    elif bound > search.bound or search.centre is None:
        search.bound = max(bound, search.bound)
        search.centre = search.duals = duals - prices.excess
        search.stiffness *= 0.8 if search.rounds > 1 else 1.0
    else:
        search.stiffness = min(1.5 * search.stiffness, FIRST_STIFFNESS)
    if prices.rays.shape[1]:
        search.pool = joined(search.pool, pool_of(prices.rays, search.costs))


def _trim(search: _Search, duals: Floats) -> None:
    size = search.cone.size
    search.pool = trimmed(
        search.pool, duals, MOST_RAYS_PER_PLACE * size, RAYS_KEPT_PER_PLACE * size
    )


def _adapt(search: _Search, known: tuple[float, float], prices: Prices) -> None:
    finest = max(0.1 * search.limits.gap, FINEST_TOLERANCE)
    search.tolerance = min(search.tolerance, max(0.1 * search.gap, finest))
    if not prices.rays.shape[1]:
        search.tolerance = max(0.1 * search.tolerance, FINEST_TOLERANCE)
        search.stiffness *= 0.3
    improved = search.loss < known[0] or search.bound > known[1]
    search.fruitless = 0 if improved else search.fruitless + 1
    search.idle = 0 if improved or prices.rays.shape[1] else search.idle + 1


def _loss(costs: Floats, matrix: Floats) -> float:
    return float((costs * matrix).sum())


def _report(search: _Search, on_progress: Progress | None) -> str | None:
    if search.loss < search.bound * (1 - 1e-9) - 1e-300:
        raise LossBelowBound(
            f"a feasible loss of {search.loss!r} lies under the lower bound {search.bound!r}"
        )
    if on_progress is not None:
        elapsed = time.monotonic() - search.started
        on_progress(search.loss, search.bound, search.gap, elapsed)
    return search.reason_to_stop()


def _finished(search: _Search, stop: str) -> Solution:
    matrix, duals = search.matrix, search.duals
    assert matrix is not None  # noqa: S101 - _begin has set it
    if duals is None:
        duals = search.costs.min(axis=1)
    return Solution(
        probabilities=matrix,
        loss=search.loss,
        lower_bound=min(search.bound, search.loss),
        gap=search.gap,
        duals=duals,
        rounds=search.rounds,
        solves=search.solves,
        method=search.method,
        stopped_by=stop,
        warm_start=WarmStart(search.pool.rays, duals),
    )
