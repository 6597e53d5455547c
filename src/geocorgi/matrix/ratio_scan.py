"""All K³ log ratios of a matrix, visited in blocks that stay in the cache and never kept.

Two questions are asked of them, each answered exactly: which ratio divided by its distance is the
largest, and how many exceed ``eps·d``. Double precision decides nearly all, extended precision
most of the rest, rational arithmetic what remains (:mod:`geocorgi.matrix.log_ratios`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from geocorgi.matrix.log_ratios import (
    INFINITE,
    CloserRatios,
    ExactRatios,
    LogProbabilities,
    Weights,
)

BLOCK_ENTRIES = 32_768  # 256 kB of doubles: a block fits a second-level cache
MOST_THREADS = 8
ROUNDING = 1 + 2.0**-50  # more than the few roundings of a product or quotient of doubles

Result = TypeVar("Result")
Indices = NDArray[np.intp]


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
        """``max_k Λ_ijk`` of every ordered pair of rows, in double precision."""
        table = self._logs.table
        peaks = np.zeros(self._distances.shape)

        def visit(i: int) -> None:
            for others in _runs(np.arange(i + 1, len(table)), table.shape[1]):
                ratios = table[i] - table[others]
                peaks[i, others] = ratios.max(axis=1)
                peaks[others, i] = -ratios.min(axis=1)

        _on_all_cores(visit, len(table))
        return peaks

    def largest_ratio(self) -> Largest:
        """Return the smallest epsilon per km under which every ratio is allowed."""
        if (unbounded := self._unbounded()) is not None:
            return Largest(math.inf, unbounded)
        apart = self._differ & (self._distances > 0)
        surely = np.divide(
            self._peaks - self._logs.error,
            self._distances,
            where=apart,
            out=np.zeros_like(self._peaks),
        )
        floor = max(0.0, float(surely.max())) / ROUNDING
        lowest = floor * self._distances / ROUNDING - 2 * self._logs.error
        near = apart & (self._peaks >= lowest)
        finalists = _on_all_cores(lambda i: self._finalists(i, near[i], lowest[i]), len(near))
        best = Largest(0.0, None)
        for finalist in sorted((one for row in finalists for one in row), reverse=True):
            if finalist.upper * ROUNDING >= best.epsilon_per_km:
                i, j, _ = finalist.triple
                distance = float(self._distances[i, j])
                epsilon = self._exact.smallest_epsilon(finalist.triple, distance)
                best = max(best, Largest(epsilon, finalist.triple), key=lambda found: found[0])
        return best if best.epsilon_per_km > 0 else Largest(0.0, None)

    def count_above(self, epsilon_per_km: float) -> int:
        """Return how many ratios exceed ``eps·d``."""
        error = self._logs.error
        exponents = epsilon_per_km * self._distances
        near = self._differ & (self._peaks >= exponents - error)

        def count(i: int) -> int:
            exceeding = 0
            for others, ratios in self._blocks(i, near[i]):
                exponent = exponents[i, others][:, None]
                above, possibly = ratios > exponent + error, ratios >= exponent - error
                exceeding += int(np.count_nonzero(above))
                j, k = _where(above ^ possibly)
                exceeding += self._count_closely(i, others[j], k, epsilon_per_km)
            return exceeding

        return sum(_on_all_cores(count, len(near)))

    def _blocks(
        self, i: int, wanted: NDArray[np.bool_]
    ) -> Iterator[tuple[Indices, NDArray[np.float64]]]:
        """Yield the wanted rows j and their ``Λ_ij·``, block by block."""
        table = self._logs.table
        for others in _runs(np.flatnonzero(wanted), table.shape[1]):
            yield others, table[i] - table[others]

    def _finalists(
        self, i: int, wanted: NDArray[np.bool_], lowest: NDArray[np.float64]
    ) -> list[Finalist]:
        """Return the triples of row i that may have the largest ``Λ / d`` of the row."""
        found: list[tuple[Indices, Indices]] = [(np.empty(0, np.intp), np.empty(0, np.intp))]
        for others, ratios in self._blocks(i, wanted):
            j, k = _where(ratios >= lowest[others][:, None])
            found.append((others[j], k))
        j, k = self._positive(i, *(np.concatenate(part) for part in zip(*found, strict=True)))
        closer, errors = self._closer.of(i, j, k)
        distances = self._distances[i, j]
        lower = np.where(np.isfinite(closer), closer - errors, 0) / distances
        upper = np.where(np.isfinite(closer), closer + errors, np.inf) / distances
        last = np.flatnonzero(upper * ROUNDING >= lower.max(initial=0))
        return [Finalist(float(lower[n]), float(upper[n]), (i, int(j[n]), int(k[n]))) for n in last]

    def _count_closely(self, i: int, j: Indices, k: Indices, epsilon_per_km: float) -> int:
        """Return how many of the triples (i, j, k) have ``Λ > eps·d``."""
        j, k = self._positive(i, j, k)
        if not j.size:
            return 0
        ratios, errors = self._closer.of(i, j, k)
        excess = ratios - self._distances[i, j].astype(np.longdouble) * epsilon_per_km
        decided = np.isfinite(ratios) & (np.abs(excess) > errors)
        exceeding = int(np.count_nonzero(decided & (excess > 0)))
        for n in np.flatnonzero(~decided):
            exponent = Fraction(epsilon_per_km) * Fraction(float(self._distances[i, j[n]]))
            exceeding += self._exact.exceeds((i, int(j[n]), int(k[n])), exponent)
        return exceeding

    def _positive(self, i: int, j: Indices, k: Indices) -> tuple[Indices, Indices]:
        """Leave out the triples in which row i has a zero: it exceeds nothing."""
        possible = self._weights[i, k] > 0
        return j[possible], k[possible]

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


def _where(table: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return the rows and columns that are true; several times faster than ``np.nonzero``."""
    j, k = np.divmod(np.flatnonzero(table.ravel()), table.shape[1])
    return j, k


def _runs(rows: Indices, columns: int) -> Iterable[Indices]:
    """Cut the rows into runs whose blocks fit the cache."""
    return np.array_split(rows, math.ceil(rows.size * columns / BLOCK_ENTRIES)) if rows.size else ()


def _on_all_cores(function: Callable[[int], Result], rows: int) -> list[Result]:
    """Call the function for every row; numpy lets go of the interpreter while it computes."""
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        return list(pool.map(function, range(rows)))
