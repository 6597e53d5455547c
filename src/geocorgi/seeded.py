"""Seeded chance for making data up: the same for a seed, on every machine and for ever.

NumPy keeps raw generator output fixed but may improve how its distributions are drawn from it, so
everything here is made from uniform numbers by formulas of its own. Not for privacy: whoever
knows the seed knows every draw.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence

import numpy as np

from geocorgi.errors import InvalidInput

DRAWS_AT_ONCE = 4096


def require_seed(seed: object) -> int:
    """Return ``seed`` if it is one, or refuse it."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidInput("a seed is a whole number, zero or more")
    return seed


class Chance:
    """A stream of draws that its seed fixes."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(require_seed(seed))
        self._ready: list[float] = []

    def uniform(self) -> float:
        """Return a number from 0 (included) to 1 (excluded)."""
        if not self._ready:
            raw = self._bits.random_raw(DRAWS_AT_ONCE)
            self._ready = ((raw >> np.uint64(11)) * 2.0**-53).tolist()[::-1]
        return self._ready.pop()

    def happens(self, probability: float) -> bool:
        """Return True with the probability."""
        return self.uniform() < probability

    def between(self, low: float, high: float) -> float:
        """Return a number evenly between the two."""
        return low + (high - low) * self.uniform()

    def around(self, middle: float, spread: float) -> float:
        """Return a number of a bell curve: the sum of three even ones, so never far away."""
        return middle + 2.0 * spread * (self.uniform() + self.uniform() + self.uniform() - 1.5)

    def heavy(self, median: float, spread: float) -> float:
        """Return a positive number of a heavy-tailed curve: the exponential of a bell curve."""
        return median * math.exp(self.around(0.0, spread))

    def place(self, cumulated: Sequence[float]) -> int:
        """Return a position, as likely as the cumulated weights say."""
        at = bisect.bisect_right(cumulated, self.uniform() * cumulated[-1])
        return min(at, len(cumulated) - 1)


def cumulated(weights: Sequence[float]) -> list[float]:
    """Return running sums, at least one of them positive, for :meth:`Chance.place`."""
    return list(itertools.accumulate(weights))
