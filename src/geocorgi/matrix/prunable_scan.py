"""All triples under all prunings, for the largest ``Λ_ijk(S) / d_ij``.

``Λ_ijk(S) = ln(w_ik / w_jk) + ln(T_j(S) / T_i(S))``, S without k. The reserve that ignores k is
the same as the one without k unless k is among the δ columns it removes: so one Dinkelbach a pair
answers for all columns but δ, and those are looked at again, where it could matter.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from geocorgi.matrix.log_ratios import UNIT_ROUNDOFF, Weights
from geocorgi.matrix.prunable_exact import ExactPruning, epsilon_at_least, surely_below
from geocorgi.matrix.prunable_reserve import NOTHING, Reserves, error_of, largest_reserves

MOST_THREADS = 8
ROUNDING = 1 + 2.0**-50

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Result = TypeVar("Result")


class Worst(NamedTuple):
    """The smallest epsilon, rounded up to a double, and the triple and S that need it."""

    epsilon_per_km: float
    triple: tuple[int, int, int] | None
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Triples of one row i, with bounds on their largest ``Λ / d``."""

    i: int
    j: Indices
    k: Indices
    lower: Floats
    upper: Floats


class _Finalists(NamedTuple):
    """A pair's columns that may be the worst, and the most that any of them can need."""

    upper: float
    columns: list[int]


class PruningScan:
    """The log ratios of rows of weights under every pruning of at most δ columns."""

    def __init__(
        self, weights: Weights, distances_km: Floats, delta: int, forbidden: Indices | None
    ) -> None:
        """``forbidden``: each row's own column (−1: none), kept while the row is looked at."""
        self._weights, self._distances, self._delta = weights, distances_km, delta
        self._forbidden = forbidden
        numbers = weights.astype(np.float64)
        # Powers of two: rows of about one, exactly.
        scale = np.frexp(numbers.max(axis=1))[1]
        self._numbers = np.ldexp(numbers, -scale[:, None])
        with np.errstate(divide="ignore"):
            logs = np.log(self._numbers)
        self._positive = self._numbers > 0
        largest = float(np.abs(logs[self._positive]).max(initial=0.0))
        self._logs = np.where(self._positive, logs, -np.inf)
        self._error = 32 * UNIT_ROUNDOFF * (1 + largest)
        self._errors = 2 * error_of(self._numbers, delta) + self._error
        self._exact = ExactPruning(weights, delta)
        kinds: dict[bytes, int] = {}
        kind = np.array([kinds.setdefault(row.tobytes(), len(kinds)) for row in weights])
        self._differ = kind[:, None] != kind[None, :]

    def worst(self) -> Worst:
        """Return what the worst triple under the worst pruning needs."""
        if (unbounded := self._unbounded()) is not None:
            return Worst(math.inf, unbounded, ())
        rows = range(len(self._weights))
        reserves = _on_all_cores(self._reserves, rows)
        floors = _on_all_cores(lambda i: self._surely(i, reserves[i]), rows)
        floor = max((*floors, 0.0)) / ROUNDING
        candidates = _on_all_cores(lambda i: self._candidates(i, reserves[i], floor), rows)
        floor = max((float(one.lower.max(initial=0.0)) for one in candidates), default=0.0)
        return self._exactly_worst(
            {
                (one.i, int(one.j[at[0]])): _Finalists(
                    float(one.upper[at].max()), one.k[at].tolist()
                )
                for one in candidates
                for at in _runs(one.j, np.flatnonzero(one.upper * ROUNDING >= floor))
            }
        )

    def _exactly_worst(self, finalists: dict[tuple[int, int], _Finalists]) -> Worst:
        """Return the worst of the pairs in integers, none passed over that could be it."""
        best = Worst(0.0, None, ())
        for pair, one in sorted(finalists.items(), key=lambda item: -item[1].upper):
            if one.upper * ROUNDING < best.epsilon_per_km:
                break
            allowed = self._allowed(pair[0], np.array([pair[1]]))[0]
            distance = float(self._distances[pair])
            above = surely_below(best.epsilon_per_km, distance)
            found = self._exact.worst_of_pair(pair, one.columns, allowed, above)
            if found is None:
                continue
            quotient, k, removed = found
            epsilon = epsilon_at_least(quotient, distance)
            if epsilon > best.epsilon_per_km:
                best = Worst(epsilon, (*pair, k), removed)
        return best

    def _others(self, i: int) -> Indices:
        return np.flatnonzero(self._differ[i] & (self._distances[i] > 0))

    def _allowed(self, i: int, others: Indices) -> NDArray[np.bool_]:
        allowed = np.ones((len(others), self._weights.shape[1]), dtype=np.bool_)
        if self._forbidden is not None:
            own = self._forbidden[others]
            has = np.flatnonzero(own >= 0)
            allowed[has, own[has]] = False
            if self._forbidden[i] >= 0:
                allowed[:, self._forbidden[i]] = False
        return allowed

    def _reserves(self, i: int) -> Reserves:
        others = self._others(i)
        return largest_reserves(
            self._numbers[i], self._numbers[others], self._allowed(i, others), self._delta
        )

    def _ratios(self, i: int, others: Indices, reserves: Reserves) -> Floats:
        """Return upper values of Λ under pruning: the reserve may remove k itself."""
        with np.errstate(invalid="ignore"):
            ratios = self._logs[i] - self._logs[others] + np.log(reserves.ratios)[:, None]
        ratios[:, ~self._positive[i]] = -np.inf
        return np.asarray(ratios)

    def _surely(self, i: int, reserves: Reserves) -> float:
        """Return a value that some triple of row i with k not removed surely reaches."""
        others = self._others(i)
        if not others.size:
            return 0.0
        ratios = self._ratios(i, others, reserves)
        pair, place = np.nonzero(reserves.removed != NOTHING)
        ratios[pair, reserves.removed[pair, place]] = -np.inf
        return float(((ratios.max(axis=1) - self._errors[i]) / self._distances[i, others]).max())

    def _candidates(self, i: int, reserves: Reserves, floor: float) -> Candidates:
        others = self._others(i)
        distances = self._distances[i, others]
        ratios = self._ratios(i, others, reserves)
        lowest = floor * distances - self._errors[i]
        pair, k = np.divmod(np.flatnonzero(ratios >= lowest[:, None]), ratios.shape[1])
        values = ratios[pair, k]
        again = np.flatnonzero((reserves.removed[pair] == k[:, None]).any(axis=1))
        if again.size:
            values[again] = self._without(i, others[pair[again]], k[again])
        lower, upper = ((values + sign * self._errors[i]) / distances[pair] for sign in (-1, 1))
        kept = upper * ROUNDING >= max(floor, float(lower.max(initial=0.0)))
        return Candidates(i, others[pair[kept]], k[kept], lower[kept], upper[kept])

    def _without(self, i: int, others: Indices, k: Indices) -> Floats:
        """Return Λ under the worst pruning that leaves k."""
        values = np.empty(len(k))
        for run in np.array_split(np.arange(len(k)), 1 + len(k) // 2048):
            allowed = self._allowed(i, others[run])
            allowed[np.arange(len(run)), k[run]] = False
            found = largest_reserves(
                self._numbers[i], self._numbers[others[run]], allowed, self._delta
            )
            values[run] = self._logs[i, k[run]] - self._logs[others[run], k[run]]
            values[run] += np.log(found.ratios)
        return values

    def _unbounded(self) -> tuple[int, int, int] | None:
        """Return a triple that no epsilon allows, if there is one."""
        for i in range(len(self._weights)):
            alone = self._positive[i] & ~self._positive
            if alone.any():
                j, k = np.argwhere(alone)[0].tolist()
                return i, j, k
        for i, j in np.argwhere(self._differ & (self._distances == 0)).tolist():
            columns = np.flatnonzero(self._positive[i]).tolist()
            allowed = self._allowed(i, np.array([j]))[0]
            found = self._exact.worst_of_pair((i, j), columns, allowed, Fraction(1))
            if found is not None:
                return i, j, found[1]
        return None


def _runs(j: Indices, chosen: Indices) -> list[Indices]:
    """Return the chosen positions, those of one j together."""
    ordered = chosen[np.argsort(j[chosen], kind="stable")]
    return np.split(ordered, np.flatnonzero(np.diff(j[ordered])) + 1) if ordered.size else []


def _on_all_cores(function: Callable[[int], Result], rows: range) -> list[Result]:
    """Call the function for every row; numpy lets go of the interpreter while it computes."""
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        return list(pool.map(function, rows))
