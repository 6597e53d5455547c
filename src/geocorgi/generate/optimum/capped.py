"""The optimum over one cone with caps on the δ largest entries of each row (ADR 6).

    rays -> capped master -> duals, charges -> prices at costs + charges -> (bound, more rays) -> …

A cap's multiplier only changes what an entry costs, so rays are priced as they are without caps.
Whatever the charges μ ≥ 0 are, ``Σ c·Z ≥ (the bound for costs c + μ) − Σ_i τ_i·ν_i`` for every Z
under the caps, with ``ν_i`` the larger of the largest ``μ_il`` and of their sum over δ: no word of
the solver's is needed. Nor for the matrix: its rows are repaired, and it is taken only where the
δ largest entries are over no cap by more than ``ROOM``, which is for the caller to reserve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from geocorgi.errors import SolverFailed
from geocorgi.generate.optimum.capped_master import ROOM, Caps, solve_capped
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.cone import Cone, Floats, Integers, cone_of
from geocorgi.generate.optimum.pool import Pool, assembled, joined, pool_of
from geocorgi.generate.optimum.pricing import Pricer
from geocorgi.generate.optimum.repair import repaired
from geocorgi.generate.optimum.safe_bound import lower_bound, relative_gap, trivial_bound
from geocorgi.generate.optimum.transport import Mask
from geocorgi.generate.optimum.twins import twins_of

MOST_ROUNDS = 60
MOST_FRUITLESS_ROUNDS = 12
HELD = 0.5  # how much of the best duals known is in those that are priced
RAYS_KEPT_PER_PLACE = 6


@dataclass(frozen=True, slots=True)
class Capped:
    """A matrix in the cone and under the caps, its loss, and a bound on that of all others.

    The rest is where a search under other caps may begin.
    """

    matrix: Floats
    loss: float
    lower_bound: float
    rounds: int
    pool: Pool
    duals: Floats
    charges: Floats
    watched: Mask

    @property
    def gap(self) -> float:
        """The share of the loss that a better matrix could save at most."""
        return relative_gap(self.loss, self.lower_bound)


@dataclass(slots=True)
class _Search:
    cone: Cone
    costs: Floats
    caps: Caps
    limits: Limits
    twins: Integers
    pool: Pool
    duals: Floats
    charges: Floats
    watched: Mask
    matrix: Floats
    loss: float
    bound: float
    rounds: int = 0
    fruitless: int = 0
    solves: int = 0

    @property
    def scale(self) -> float:
        return max(self.loss / self.cone.size, 1e-300)

    def done(self) -> bool:
        stuck = self.fruitless >= MOST_FRUITLESS_ROUNDS or self.rounds >= MOST_ROUNDS
        worked = self.limits.work is not None and self.solves >= self.limits.work
        return stuck or worked or relative_gap(self.loss, self.bound) <= self.limits.gap


def solve_under_caps(
    rates: Floats, costs: Floats, caps: Caps, limits: Limits, known: Capped | None = None
) -> Capped:
    """Minimise ``Σ costs·Z`` over row-stochastic Z in the cone that keep to the caps.

    ``known``: the result for a cone and caps that allow no more and keep to these caps; the loss
    is then none higher. Without it the caps are at least δ over the number of columns, so that the
    uniform matrix keeps to them.
    """
    cone = cone_of(rates)
    with threadpool_limits(1, user_api="blas"):
        if known is None:
            search = _beginning(cone, costs, caps, limits)
        else:
            search = _going_on(cone, costs, caps, limits, known)
        while not search.done():
            try:
                _round(search)
            except SolverFailed:
                break  # what is known is a matrix and a bound all the same
    return _finished(search)


def _beginning(cone: Cone, costs: Floats, caps: Caps, limits: Limits) -> _Search:
    """Begin with the uniform matrix, and with the optimum without caps."""
    width = costs.shape[1]
    free = solve(cone.rates, costs, metric=True, limits=limits)
    uniform = np.full(costs.shape, 1 / width)
    rays = pool_of(np.hstack([free.warm_start.rays, cone.kernel]), costs)
    search = _Search(
        cone=cone,
        costs=costs,
        caps=caps,
        limits=limits,
        twins=_first_twins(cone),
        pool=joined(_columns_of(uniform, costs), rays),
        duals=free.duals,
        charges=np.zeros(costs.shape),
        watched=np.zeros(costs.shape, dtype=np.bool_),
        matrix=uniform,
        loss=_loss(costs, uniform),
        bound=free.lower_bound,
    )
    _accept(search, free.probabilities)
    return search


def _going_on(cone: Cone, costs: Floats, caps: Caps, limits: Limits, known: Capped) -> _Search:
    """Begin where another search ended."""
    search = _Search(
        cone=cone,
        costs=costs,
        caps=caps,
        limits=limits,
        twins=_first_twins(cone),
        pool=joined(known.pool, pool_of(cone.kernel, costs)),
        duals=known.duals,
        charges=known.charges,
        watched=known.watched.copy(),
        matrix=known.matrix,
        loss=known.loss,
        bound=trivial_bound(costs),
    )
    _price(search, known.duals, known.charges)
    return search


def _round(search: _Search) -> None:
    search.rounds += 1
    before = (search.loss, search.bound, int(search.watched.sum()))
    point = solve_capped(search.pool, search.caps, search.watched, search.scale)
    _accept(search, assembled(search.pool, point.weights, search.costs.shape[1]))
    duals = HELD * search.duals + (1 - HELD) * point.duals
    charges = HELD * search.charges + (1 - HELD) * point.charges
    _price(search, duals, charges)
    improved = before != (search.loss, search.bound, int(search.watched.sum()))
    search.fruitless = 0 if improved else search.fruitless + 1


def _accept(search: _Search, matrix: Floats) -> None:
    """Keep the matrix if it is cheaper and under all caps; where it is not, watch why."""
    fixed = repaired(search.cone, matrix, search.costs)
    if fixed is None:
        return
    fixed = fixed[search.twins]
    columns, shares = search.caps.largest(fixed)
    over = shares > search.caps.most + ROOM
    search.watched[np.flatnonzero(over)[:, None], columns[over]] = True
    loss = _loss(search.costs, fixed)
    if loss < search.loss and not over.any():
        search.loss, search.matrix = loss, fixed


def _price(search: _Search, duals: Floats, charges: Floats) -> None:
    """Prove a bound with these duals and charges, and take the rays that are worth having."""
    charged = search.costs + charges
    negligible = 0.1 * search.limits.gap * search.scale
    prices = Pricer(search.cone, search.cone, charged).price(duals, negligible)
    search.solves += prices.solves
    bound = lower_bound(duals, prices.excess) - search.caps.price(charges)
    if bound > search.bound:
        search.bound = bound
        search.duals, search.charges = duals - prices.excess, charges
    if prices.rays.shape[1]:
        found = pool_of(prices.rays, charged)
        search.pool = joined(search.pool, _pool(found.rays, found.columns, search.costs))


def _finished(search: _Search) -> Capped:
    pool = joined(_columns_of(search.matrix, search.costs), _best_rays(search))
    return Capped(
        matrix=search.matrix,
        loss=search.loss,
        lower_bound=min(search.bound, search.loss),
        rounds=search.rounds,
        pool=pool,
        duals=search.duals,
        charges=search.charges,
        watched=search.watched,
    )


def _best_rays(search: _Search) -> Pool:
    pool, most = search.pool, RAYS_KEPT_PER_PLACE * search.cone.size
    charged = np.einsum("ir,ir->r", pool.rays, search.charges[:, pool.columns])
    dear = (pool.costs + charged - search.duals @ pool.rays) / pool.rays.sum(axis=0)
    kept = np.sort(np.argsort(dear, kind="stable")[:most])
    return Pool(np.ascontiguousarray(pool.rays[:, kept]), pool.costs[kept], pool.columns[kept])


def _columns_of(matrix: Floats, costs: Floats) -> Pool:
    """Return the matrix's own columns as rays: with them there is always a mixture."""
    used = np.flatnonzero(matrix.max(axis=0) > 0)
    return _pool(matrix[:, used] / matrix[:, used].max(axis=0), used, costs)


def _pool(rays: Floats, columns: Integers, costs: Floats) -> Pool:
    return Pool(rays, np.einsum("ir,ir->r", rays, costs[:, columns]), columns)


def _first_twins(cone: Cone) -> Integers:
    """Return for every place the first that the cone cannot tell from it."""
    twins = twins_of(cone)
    return twins.first[twins.group]


def _loss(costs: Floats, matrix: Floats) -> float:
    return float((costs * matrix).sum())
