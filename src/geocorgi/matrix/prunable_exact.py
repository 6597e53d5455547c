"""Exact answers about one pair of rows under pruning: integers, no rounding.

A row may be multiplied by any number without changing what is drawn from it, so a row of doubles
is read as the integers that it is, times a power of two of its own.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from geocorgi.matrix.log_ratios import FIRST_DIGITS, Weights, enclose_logarithm

LARGEST_EXPONENT = 700.0
EXPONENTIAL_ERROR = 1e-14  # of the product in the exponent and of the exponential, generously


class ExactPruning:
    """The largest exact ratio ``P(k|i, S) / P(k|j, S)`` of rows of weights over all S."""

    def __init__(self, weights: Weights, delta: int) -> None:
        self._weights = weights
        self._delta = delta
        self._rows: dict[int, list[int]] = {}

    def worst_of_pair(
        self,
        pair: tuple[int, int],
        columns: list[int],
        allowed: NDArray[np.bool_],
        above: Fraction = Fraction(0),
    ) -> tuple[Fraction, int, tuple[int, ...]] | None:
        """Return the largest ratio in any of the columns, with its column and its S.

        None where no ratio is above the one given. All entries are positive. The worst pruning of
        the pair is the worst for every column that it leaves, and a bound for those it removes.
        """
        mine, theirs = self.row(pair[0]), self.row(pair[1])
        reserve, removed = self._reserve(mine, theirs, allowed)
        best = None
        entries = sorted(((Fraction(mine[k], theirs[k]), k) for k in columns), reverse=True)
        for quotient, k in entries:
            if quotient * reserve <= above:
                break
            without, others = reserve, removed
            if k in removed:
                stays = allowed.copy()
                stays[k] = False
                without, others = self._reserve(mine, theirs, stays)
            if quotient * without > above:
                above = quotient * without
                best = above, k, others
        return best

    def _reserve(
        self, mine: list[int], theirs: list[int], allowed: NDArray[np.bool_]
    ) -> tuple[Fraction, tuple[int, ...]]:
        """Return the largest ratio of what is left of the two rows, and its S (Dinkelbach)."""
        able = [column for column in np.flatnonzero(allowed).tolist() if mine[column]]
        removed: tuple[int, ...] = ()
        my_total, their_total = sum(mine), sum(theirs)
        my_rest, their_rest = my_total, their_total
        while True:
            scores = [(their_rest * mine[at] - my_rest * theirs[at], at) for at in able]
            best = sorted((score for score in scores if score[0] > 0), reverse=True)[: self._delta]
            chosen = tuple(at for _, at in best)
            mine_left = my_total - sum(mine[at] for at in chosen)
            theirs_left = their_total - sum(theirs[at] for at in chosen)
            if theirs_left * my_rest <= their_rest * mine_left:
                return Fraction(their_rest, my_rest), tuple(sorted(removed))
            removed, my_rest, their_rest = chosen, mine_left, theirs_left

    def row(self, at: int) -> list[int]:
        """Return the row as integers."""
        if at not in self._rows:
            numbers = self._weights[at].tolist()
            if self._weights.dtype == np.uint64:
                self._rows[at] = [int(number) for number in numbers]
            else:
                ratios = [number.as_integer_ratio() for number in numbers]
                scale = max(bottom for _, bottom in ratios)
                self._rows[at] = [top * (scale // bottom) for top, bottom in ratios]
        return self._rows[at]


def surely_below(epsilon_per_km: float, distance_km: float) -> Fraction:
    """Return a little less than ``e^{eps·d}``: what is not above it does not need epsilon."""
    exponent = epsilon_per_km * distance_km
    if exponent > LARGEST_EXPONENT:
        return Fraction(0)
    return Fraction(math.exp(exponent) * (1 - EXPONENTIAL_ERROR * (1 + exponent)))


def epsilon_at_least(quotient: Fraction, distance_km: float) -> float:
    """Return the smallest double, from 0 on, that is at least ``ln(quotient) / distance``."""
    if quotient <= 1:
        return 0.0
    if distance_km == 0:
        return math.inf
    digits = FIRST_DIGITS
    while True:
        ends = {
            _double_at_least(end / Fraction(distance_km))
            for end in enclose_logarithm(quotient, digits)
        }
        if len(ends) == 1:
            return ends.pop()
        digits *= 2


def _double_at_least(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
