"""All K³ log ratios of a matrix, visited in blocks that stay in the cache and never kept.

Two questions are asked of them, each answered exactly: which ratio divided by its distance is the
largest, and how many exceed ``eps·d``. Single precision decides nearly all, double precision most
of the rest, extended precision and rational arithmetic what remains
(:mod:`geocorgi.matrix.log_ratios`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocorgi.matrix.log_ratios import (
    INFINITE,
    CloserRatios,
    ExactRatios,
    LogProbabilities,
    Weights,
)
from geocorgi.matrix.row_blocks import Block, on_all_cores

ROUNDING = 1 + 2.0**-50  # more than the few roundings of a product or quotient of doubles
LARGEST_EXPONENT = 1e28  # no ratio of two doubles comes near it, one of something to nothing does
LARGEST_DOUBLE = np.finfo(np.float64).max

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Singles = NDArray[np.float32]
Rows = slice | Indices
Triples = tuple[Indices, Indices, Indices]


class Largest(NamedTuple):
    """The largest ``Λ_ijk / d_ij``, rounded up to a double, and where it stands."""

    epsilon_per_km: float
    triple: tuple[int, int, int] | None


class Finalist(NamedTuple):
    """A triple that may be the largest: bounds on its ``Λ / d``."""

    lower: float
    upper: float
    triple: tuple[int, int, int]


class RatioScan:
    """The log ratios of rows of weights over the distances between those rows."""

    def __init__(self, weights: Weights, distances_km: NDArray[np.float64]) -> None:
        self._weights = weights
        self._distances = distances_km
        self._logs = LogProbabilities.of(weights)
        self._exact = ExactRatios(weights)
        # Rows with the same weights have all their ratios equal to one, whatever their distance.
        numbers: dict[bytes, int] = {}
        kinds = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in weights])
        self._differ = kinds[:, None] != kinds[None, :]

    @cached_property
    def _closer(self) -> CloserRatios:
        return CloserRatios(self._weights)

    @cached_property
    def _peaks(self) -> NDArray[np.float64]:
        """``max_k Λ_ijk`` of every ordered pair of rows, in single precision."""
        table = self._logs.coarse
        peaks = np.zeros(self._distances.shape)

        def visit(block: Block) -> None:
            for i in range(block.stop):  # later rows meet these in their own block
                ratios = block.taken_from(table[i], slice(block.start, block.stop))
                peaks[i, block.start : block.stop] = ratios.max(axis=1)
                peaks[block.start : block.stop, i] = -ratios.min(axis=1)

        on_all_cores(visit, table)
        return peaks

    def largest_ratio(self) -> Largest:
        """Return the smallest epsilon per km under which every ratio is allowed."""
        if (unbounded := self._unbounded()) is not None:
            return Largest(math.inf, unbounded)
        error = self._logs.coarse_error
        apart = self._differ & (self._distances > 0)
        floor = _largest_quotient(self._peaks[apart] - error, self._distances[apart])
        with np.errstate(over="ignore"):  # what no ratio reaches is infinite for all that matters
            lowest = floor * self._distances / ROUNDING - 2 * error
            bars = lowest.astype(np.float32)
        near = apart & (self._peaks >= lowest)
        finalists = on_all_cores(
            lambda block: self._finalists(block, near, bars), self._logs.coarse
        )
        best = Largest(0.0, None)
        for finalist in sorted((one for part in finalists for one in part), reverse=True):
            if finalist.upper * ROUNDING >= best.epsilon_per_km:
                i, j, _ = finalist.triple
                distance = float(self._distances[i, j])
                epsilon = self._exact.smallest_epsilon(finalist.triple, distance)
                best = max(best, Largest(epsilon, finalist.triple), key=lambda found: found[0])
        return best if best.epsilon_per_km > 0 else Largest(0.0, None)

    def count_above(self, epsilon_per_km: float) -> int:
        """Return how many ratios exceed ``eps·d``."""
        with np.errstate(over="ignore"):
            exponents = np.minimum(epsilon_per_km * self._distances, LARGEST_EXPONENT)
        error = self._logs.coarse_error
        near = self._differ & (self._peaks >= exponents - error)

        high, low = ((exponents + by).astype(np.float32) for by in (error, -error))

        def count(block: Block) -> int:
            exceeding = 0
            for i, others, ratios in self._ratios(block, near):
                above = ratios > high[i, others][:, None]
                possibly = ratios >= low[i, others][:, None]
                surely = int(np.count_nonzero(above))
                exceeding += surely
                if np.count_nonzero(possibly) > surely:
                    triples = _where(above ^ possibly, i, others)
                    exceeding += self._count_closely(triples, exponents, epsilon_per_km)
            return exceeding

        return sum(on_all_cores(count, self._logs.coarse))

    def _ratios(self, block: Block, wanted: Mask) -> Iterator[tuple[int, Rows, Singles]]:
        """Yield every row i with the block's rows j that are wanted and their ``Λ_ij·``."""
        whole = slice(block.start, block.stop)
        count = np.count_nonzero(wanted[:, whole], axis=1)
        for i in np.flatnonzero(count).tolist():
            all_of_them = count[i] == block.stop - block.start
            others = whole if all_of_them else block.start + np.flatnonzero(wanted[i, whole])
            yield i, others, block.taken_from(self._logs.coarse[i], others)

    def _finalists(self, block: Block, wanted: Mask, lowest: Singles) -> list[Finalist]:
        """Return the triples with other rows in the block that may have the largest ``Λ / d``."""
        nothing = np.empty(0, np.intp)
        found: list[Triples] = [(nothing, nothing, nothing)]
        for row, others, ratios in self._ratios(block, wanted):
            found.append(_where(ratios >= lowest[row, others][:, None], row, others))
        parts = (np.concatenate(part) for part in zip(*found, strict=True))
        i, j, k = self._largest_in_doubles(self._positive(*parts))
        closer, errors = self._closer.of(i, j, k)
        distances = self._distances[i, j]
        with np.errstate(over="ignore"):
            lower = np.where(np.isfinite(closer), closer - errors, 0) / distances
            upper = np.where(np.isfinite(closer), closer + errors, np.inf) / distances
        lower = np.minimum(lower, LARGEST_DOUBLE)
        last = np.flatnonzero(upper * ROUNDING >= lower.max(initial=0))
        return [
            Finalist(float(lower[n]), float(upper[n]), (int(i[n]), int(j[n]), int(k[n])))
            for n in last
        ]

    def _largest_in_doubles(self, triples: Triples) -> Triples:
        """Keep the triples that in double precision may still be the largest of these."""
        i, j, k = triples
        ratios = self._logs.table[i, k] - self._logs.table[j, k]
        distances = self._distances[i, j]
        floor = _largest_quotient(ratios - self._logs.error, distances)
        last = ratios >= floor * distances / ROUNDING - 2 * self._logs.error
        return i[last], j[last], k[last]

    def _count_closely(
        self, triples: Triples, exponents: NDArray[np.float64], epsilon_per_km: float
    ) -> int:
        """Return how many of the triples have ``Λ > eps·d``."""
        i, j, k = self._positive(*triples)
        ratios, error = self._logs.table[i, k] - self._logs.table[j, k], self._logs.error
        above, possibly = ratios > exponents[i, j] + error, ratios >= exponents[i, j] - error
        exceeding = int(np.count_nonzero(above))
        unsure = above ^ possibly
        return exceeding + self._count_exactly((i[unsure], j[unsure], k[unsure]), epsilon_per_km)

    def _count_exactly(self, triples: Triples, epsilon_per_km: float) -> int:
        i, j, k = triples
        closer, errors = self._closer.of(i, j, k)
        excess = closer - self._distances[i, j].astype(np.longdouble) * epsilon_per_km
        decided = np.isfinite(closer) & (np.abs(excess) > errors)
        exceeding = int(np.count_nonzero(decided & (excess > 0)))
        for n in np.flatnonzero(~decided).tolist():
            exponent = Fraction(epsilon_per_km) * Fraction(float(self._distances[i[n], j[n]]))
            exceeding += self._exact.exceeds((int(i[n]), int(j[n]), int(k[n])), exponent)
        return exceeding

    def _positive(self, i: Indices, j: Indices, k: Indices) -> Triples:
        """Leave out the triples in which row i has a zero: it exceeds nothing."""
        possible = self._weights[i, k] > 0
        return i[possible], j[possible], k[possible]

    def _unbounded(self) -> tuple[int, int, int] | None:
        """Return a triple that no epsilon allows, if there is one."""
        for i, j in np.argwhere(self._peaks >= INFINITE):
            alone = (self._weights[i] > 0) & (self._weights[j] == 0)
            return int(i), int(j), int(alone.argmax())
        for i, j in np.argwhere(self._differ & (self._distances == 0)):
            for k in np.flatnonzero(self._weights[i]):  # at one place the rows must be equal
                if self._exact.exceeds((int(i), int(j), int(k)), Fraction(0)):
                    return int(i), int(j), int(k)
        return None


def _largest_quotient(ratios: NDArray[np.float64], distances: NDArray[np.float64]) -> float:
    """Return a double that the largest ``ratio / distance`` reaches for certain, zero at least."""
    with np.errstate(over="ignore"):
        largest = float((ratios / distances).max(initial=0.0))
    return min(largest, float(LARGEST_DOUBLE)) / ROUNDING


def _where(table: Mask, i: int, others: Rows) -> Triples:
    """Return the triples that are true; several times faster than ``np.nonzero``."""
    true = np.flatnonzero(table.ravel())
    j, k = np.divmod(true, table.shape[1])
    return np.full_like(true, i), j + others.start if isinstance(others, slice) else others[j], k
