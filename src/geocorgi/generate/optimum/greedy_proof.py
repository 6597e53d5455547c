"""The greedy proof of all columns at once, and what of it is left to a solver.

Shipping settles most demands of most columns. What it leaves open goes to a linear program, with
the demands near enough to want the same capacities (kernel above the column's ``reach``); all
others keep what they were shipped, in a second pass that only they take part in.
"""

from __future__ import annotations

import numpy as np

from geocorgi.generate.optimum.cone import Cone, Floats, Integers
from geocorgi.generate.optimum.shipping import demands_of, shipped_greedily
from geocorgi.generate.optimum.transport import Mask


class GreedyProof:
    """What is left of every demand, and which demands of the open columns a solver should take."""

    def __init__(
        self, cone: Cone, nearest: Integers, worth: Floats, reach: Floats, negligible: float
    ) -> None:
        self._cone = cone
        self.demands = demands_of(worth)
        self.left = shipped_greedily(cone, nearest, worth, self.demands).left
        self._sum = np.bincount(self.demands.columns, self.left, minlength=len(worth))
        self._first = np.searchsorted(self.demands.columns, np.arange(len(worth) + 1))
        self.open: list[int] = np.flatnonzero(self._sum > negligible).tolist()
        self._kept = np.zeros(len(self.left), dtype=np.bool_)
        beside = np.zeros(len(self.left), dtype=np.bool_)
        for column in self.open:
            own = self._own(column)
            self._kept[own] = self._competing(own, reach[column])
            beside[own] = ~self._kept[own]
        settled = np.flatnonzero(beside)
        shipped = shipped_greedily(cone, nearest, worth, self.demands.where(settled))
        self.capacity_beside_kept = shipped.capacity
        self._beside = self.left.copy()
        self._beside[settled] = shipped.left

    def kept(self, column: int) -> Integers:
        """Return which demands of a column are for a solver."""
        kept: Integers = self._first[column] + np.flatnonzero(self._kept[self._own(column)])
        return kept

    def improve(self, column: int, left: Floats) -> float:
        """Take the solver's proof for the kept demands if it is better; return what is proved."""
        own = self._own(column)
        proposed = self._beside[own].copy()
        proposed[self._kept[own]] = left
        if proposed.sum() < self._sum[column]:
            self.left[own] = proposed
        return float(self.left[own].sum())

    def excess(self) -> Floats:
        """Return by how much each place's dual must fall so that no column has a price."""
        excess = np.zeros(self._cone.size)
        np.maximum.at(excess, self.demands.places, self.left)
        return excess

    def _own(self, column: int) -> slice:
        return slice(self._first[column], self._first[column + 1])

    def _competing(self, own: slice, bar: float) -> Mask:
        """Mark the demands left open, and those near enough to want the same capacities."""
        places = self.demands.places[own]
        still_open = self.left[own] > 1e-9 * self.demands.sizes[own]
        near = self._cone.kernel[np.ix_(places, places[still_open])].max(axis=1, initial=0.0)
        competing: Mask = still_open | (near > bar)
        return competing
