"""The best ray of every column, and a proof of how good it can be at most.

Only the demands (places of positive worth) are free: given the ray there, the best ray elsewhere is
the smallest member of C above it. ``shipping`` settles most demands of most columns at once; what
it leaves open, with the demands near enough to compete for the same capacities, goes to a small
linear program (``transport``), from where the column's last ray was.

The proofs are over ``proof_cone``, the one that was asked about. The rays may come from a slightly
narrower one, so that what is made of them leaves room for rounding and sealing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from geocorgi.errors import SolverFailed
from geocorgi.generate.optimum.cone import Cone, Floats, Integers, rays_over
from geocorgi.generate.optimum.greedy_proof import GreedyProof
from geocorgi.generate.optimum.shipping import SLACK, nearest_places
from geocorgi.generate.optimum.solver import TransportSolver
from geocorgi.generate.optimum.transport import Transport

WORKERS = 2
# Below so many columns times places a second thread costs more than it brings.
WORTH_A_THREAD = 5_000
MOST_EXTENSIONS = 16
# Where this leaves a column's proof weaker than it could be, its reach grows for the next round.
FIRST_REACH = 1e-4
WIDER = 1e-6
# Capacities whose best rate is below this cannot matter to the demands at hand.
MATTERS = 1e-12


@dataclass(frozen=True, slots=True)
class Prices:
    """What all columns offer: new rays, and by how much each dual must fall to be feasible."""

    rays: Floats
    excess: Floats
    solves: int


@dataclass(slots=True)
class _Offer:
    left: Floats
    price: float
    heights: Floats
    solves: int = 0
    failure: SolverFailed | None = None


class Pricer:
    """Prices columns again and again, remembering for each where its last ray was high."""

    def __init__(self, cone: Cone, proof_cone: Cone, costs: Floats) -> None:
        self._rays_cone = cone
        self._cone = proof_cone
        self._costs = costs
        self._nearest = nearest_places(cone)
        self._last = np.ones((costs.shape[1], cone.size), dtype=np.float32)
        self._reach = np.full(costs.shape[1], FIRST_REACH)
        self._own = threading.local()

    def price(
        self, duals: Floats, negligible: float, expired: Callable[[], bool] = lambda: False
    ) -> Prices:
        """Price every column; when time expires the greedy proofs stand for the rest."""
        worth = duals - self._costs.T
        greedy = GreedyProof(self._cone, self._nearest, worth, self._reach, negligible)
        capacity = greedy.capacity_beside_kept

        def offer(column: int) -> _Offer | None:
            kept = greedy.kept(column)
            places, demand = greedy.demands.places[kept], greedy.demands.sizes[kept]
            if expired() or not len(places):
                return None
            return self._offer(places, demand, capacity[column], self._last[column], negligible)

        rays, offers = [], []
        for column, found in zip(greedy.open, self._mapped(offer, greedy.open), strict=True):
            if found is None:
                continue
            offers.append(found)
            proved = greedy.improve(column, found.left)
            ray = rays_over(
                self._rays_cone, greedy.demands.places[greedy.kept(column)], found.heights
            )
            # The solver saw what the settled demands left it; the ray is worth what it is worth.
            price = float(worth[column] @ ray)
            if price > 1e-9 * negligible:
                self._last[column] = np.maximum(ray, 1e-30)
                rays.append(ray)
            if proved - max(price, 0.0) > max(negligible, 0.05 * proved):
                self._reach[column] *= WIDER
        failures = [found.failure for found in offers if found.failure is not None]
        if failures and len(failures) == len(offers):
            raise failures[0]
        together = np.array(rays).T if rays else np.empty((self._cone.size, 0))
        return Prices(together, greedy.excess(), sum(found.solves for found in offers))

    def _mapped(
        self, offer: Callable[[int], _Offer | None], columns: list[int]
    ) -> Iterator[_Offer | None]:
        """Apply ``offer`` in order; HiGHS lets go of the interpreter while it runs."""
        if len(columns) * self._cone.size < WORTH_A_THREAD:
            yield from map(offer, columns)
            return
        workers = ThreadPoolExecutor(WORKERS)
        try:
            yield from workers.map(offer, columns)
        finally:
            workers.shutdown(wait=True, cancel_futures=True)

    def _solver(self) -> TransportSolver:
        if not hasattr(self._own, "solver"):
            self._own.solver = TransportSolver()
        solver: TransportSolver = self._own.solver
        return solver

    def _offer(
        self, places: Integers, demand: Floats, capacity: Floats, last: Floats, negligible: float
    ) -> _Offer:
        best = _Offer(demand * (1 + SLACK), 0.0, np.zeros(len(places)))
        rate = self._cone.kernel[:, places]
        sources = np.flatnonzero((capacity > 0) & (rate.max(axis=1) > MATTERS))
        if not len(sources):
            return _Offer(best.left, float(demand.sum()), np.ones(len(places)))
        transport = Transport(demand, capacity[sources], rate[sources])
        solver = self._solver()
        try:
            solver.load(transport, *transport.begin(last[places].astype(np.float64)))
            for _ in range(MOST_EXTENSIONS):
                arrivals, heights = solver.solve(transport)
                _improve(best, transport, arrivals, heights)
                if best.left.sum() < negligible:
                    break
                sources, sinks = transport.extend(heights)
                if not len(sources):
                    break
                solver.extend(transport, sources, sinks)
        except SolverFailed as failure:
            best.failure = failure
        return best


def _improve(best: _Offer, transport: Transport, arrivals: Floats, heights: Floats) -> None:
    """Count what the shipments prove and what the heights earn; keep the better of each."""
    best.solves += 1
    left, price = transport.left_after(arrivals), transport.price(heights)
    if left.sum() < best.left.sum():
        best.left = left
    if price > best.price:
        best.price, best.heights = price, heights
