"""One column's pricing problem, as a transportation problem with gains.

Demands ``i`` ask for ``demand_i``; capacities ``j`` hold ``capacity_j``; of one unit that ``j``
sends to ``i``, ``rate_ji`` arrives. The least demand left over bounds the column's price, and the
duals are the heights of its best ray. Only some pairs are in play; the answer shows which others
are missed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geocorgi.generate.optimum.cone import Floats, Integers
from geocorgi.generate.optimum.shipping import FAINT, SLACK

Mask: TypeAlias = npt.NDArray[np.bool_]

# Pairs at a rate far below their capacity's best are left out: with coefficients of 1e8 the solver
# loses its footing. Fewer shipments only make the proof weaker, never wrong.
FAINTEST = 1e-7
NEAR_THE_CHOICE = 1.1
LOWEST_URGENCY = 1e-7


class Transport:
    """Demands, capacities and rates, and the pairs in play."""

    def __init__(self, demand: Floats, capacity: Floats, rate: Floats) -> None:
        self.demand = demand
        self.capacity = capacity
        self.rate = rate
        self.unit = float(demand.max())
        self.best_rate = rate.max(axis=1)
        self.sources: Integers = np.empty(0, dtype=np.int64)
        self.sinks: Integers = np.empty(0, dtype=np.int64)
        self._in_play: Mask = np.zeros(rate.shape, dtype=np.bool_)
        self._usable: Mask = rate > np.maximum(FAINTEST * self.best_rate, FAINT)[:, None]

    def begin(self, guess: Floats) -> tuple[Integers, Floats]:
        """Bring the likely pairs into play; return the guess's own among them, and the guess.

        Under the guessed heights every capacity belongs to the demand that lifts it highest.
        """
        urgency = np.maximum(guess / guess.max(), LOWEST_URGENCY)
        lifted = self.rate * urgency
        choice = lifted.argmax(axis=1)
        highest = lifted[np.arange(len(choice)), choice]
        self._add(self._nearest_enough() | (lifted > highest[:, None] / NEAR_THE_CHOICE))
        return np.flatnonzero(choice[self.sources] == self.sinks), urgency

    def extend(self, heights: Floats) -> tuple[Integers, Integers]:
        """Bring the pairs into play that the heights violate; return them."""
        lifted = self.rate * heights
        known = np.where(self._in_play, lifted, 0.0).max(axis=1)
        bar = np.maximum(known * (1 + 1e-6) + 1e-12, lifted.max(axis=1) / 1.05)
        return self._add(lifted > bar[:, None])

    def price(self, heights: Floats) -> float:
        """Return what the ray of these heights earns."""
        lifted = (self.rate * heights).max(axis=1)
        return float(self.demand @ heights - self.capacity @ lifted)

    def left_after(self, arrivals: Floats) -> Floats:
        """Return the demand left when shipments are cut to what the capacities really hold."""
        rate = self.rate[self.sources, self.sinks]
        sent = np.maximum(arrivals, 0.0) / rate
        taken = np.bincount(self.sources, sent, minlength=len(self.capacity))
        cut = np.minimum(1.0, self.capacity * (1 - SLACK) / np.maximum(taken, 1e-280))
        arrived = sent * cut[self.sources] * rate
        left = self.demand - np.bincount(self.sinks, arrived, minlength=len(self.demand))
        return np.maximum(left, 0.0) + SLACK * self.demand

    def _add(self, wanted: Mask) -> tuple[Integers, Integers]:
        wanted = wanted & self._usable & ~self._in_play
        self._in_play |= wanted
        sources, sinks = np.nonzero(wanted)
        self.sources = np.concatenate([self.sources, sources])
        self.sinks = np.concatenate([self.sinks, sinks])
        return sources, sinks

    def _nearest_enough(self) -> Mask:
        """Mark for each demand its nearest capacities until they could fill it, alone."""
        order = np.argsort(-self.rate, axis=0, kind="stable")
        arriving = self.capacity[order] * np.take_along_axis(self.rate, order, axis=0)
        enough = (np.cumsum(arriving, axis=0) < self.demand).sum(axis=0) + 2
        chosen = np.zeros(self.rate.shape, dtype=np.bool_)
        np.put_along_axis(chosen, order, np.arange(len(order))[:, None] < enough, axis=0)
        return chosen
