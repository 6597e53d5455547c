"""Places at rate zero of each other are one place.

Geo-Ind gives them equal rows. Kept apart, their rows would differ by rounding, which no epsilon
forgives at distance zero, and of their duals only the sum would mean anything: each could wander
off for ever. So the engine works on one place for all of them, at the sum of their costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from geocorgi.generate.optimum.cone import Cone, Floats, Integers
from geocorgi.generate.optimum.solution import Solution, WarmStart


@dataclass(frozen=True, slots=True)
class Twins:
    """The first place of every group of twins, and the group of every place."""

    first: Integers
    group: Integers

    def merged(self, cone: Cone) -> Cone:
        """Return the cone over the first of each group."""
        if len(self.first) == cone.size:
            return cone
        firsts = np.ix_(self.first, self.first)
        return Cone(cone.rates[firsts], np.ascontiguousarray(cone.kernel[firsts]))

    def summed(self, of_places: Floats) -> Floats:
        """Return the sum over each group, along the first axis."""
        sums = np.zeros((len(self.first), *of_places.shape[1:]))
        np.add.at(sums, self.group, of_places)
        return sums

    def merged_start(self, start: WarmStart) -> WarmStart:
        """Return the warm start for the first of each group."""
        return WarmStart(start.rays[self.first], self.summed(start.duals))

    def spread(self, found: Solution) -> Solution:
        """Return the solution for all places: twins share a row, the first has their dual."""
        duals = np.zeros(len(self.group))
        duals[self.first] = found.duals
        matrix = found.probabilities[self.group]
        matrix.flags.writeable = False
        start = WarmStart(found.warm_start.rays[self.group], duals)
        return replace(found, probabilities=matrix, duals=duals, warm_start=start)


def twins_of(cone: Cone) -> Twins:
    """Find the places that the cone cannot tell apart."""
    alike = (cone.rates == 0) & (cone.rates.T == 0)
    first, group = np.unique(alike.argmax(axis=1), return_inverse=True)
    return Twins(first, group)
