"""Logarithms of probability ratios: fast with a proved error, then exact where that is too coarse.

A row of non-negative numbers w is read as the distribution ``w_k / Σw`` with the *exact* sum.
Floats whose rows sum to one only nearly, integer weights and pruned rows are all judged as what
would be drawn from them. The subject is ``Λ_ijk = ln P(k|i) − ln P(k|j)``.

All of them in doubles (:class:`LogProbabilities`). Let u be the unit roundoff and M the largest
magnitude among the logarithms taken. The logarithm function may be off by 4 units in the last
place (numpy and the C libraries document fewer): an entry's logarithm by ``8uM``, plus u if an
integer weight was rounded to be read; a row's log total by ``8uM``, plus 2u for the sum. Their
difference rounds by ``2uM``. So each log probability is off by at most ``18uM + 3u``, Λ by
``36uM + 6u`` and its own rounding, ``4uM``, and a comparison with ``eps·d`` where it could matter
(``eps·d ≤ 2M``) by ``6uM`` more. ``64·u·(1 + M)`` covers them all.

All of them in single precision first, twice as fast (``coarse``). With v its unit roundoff and S
the largest magnitude of a log probability, reading one rounds it by ``vS`` and the difference of
two, itself at most S, by ``vS`` more; what it is compared with matters up to S and is rounded by
``vS`` too. With the error of the doubles ``5·v·(1 + S)`` more than covers these four.

Some of them in extended precision (:class:`CloserRatios`). Here Λ is the logarithm of a quotient,
so that errors grow with Λ and not with M: reading, dividing and multiplying four numbers moves it
by at most 11u, the logarithm by ``8u|Λ|``, and a comparison with ``eps·d ≈ Λ`` by ``3u|Λ|`` more:
``16·u·(1 + |Λ|)``. (Where a platform's long double is a double this decides little, and rightly.
Where it is a pair of doubles its epsilon says nothing of its errors: u is never less than 2^-64.)

Exactly (:class:`ExactRatios`). Doubles and integers are rational numbers, and so are distances
and epsilons given as doubles. The one irrational thing is the logarithm, computed here to as many
digits as the question needs. It always needs finitely many: the logarithm of a rational other
than one is transcendental (Lindemann), so it never *equals* the rational it is compared with.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64] | NDArray[np.uint64]

UNIT_ROUNDOFF = 2.0**-53
COARSE_ROUNDOFF = 2.0**-24
EXTENDED_ROUNDOFF = max(np.finfo(np.longdouble).eps / 2, np.longdouble(2.0**-64))
LOG_OF_ZERO = -1e30  # against another zero: 0; against anything positive: beyond every exponent
INFINITE = 1e29
LARGEST_DOUBLE = Fraction(np.finfo(np.float64).max.item())
FIRST_DIGITS = 36
MOST_DIGITS = 40_000


@dataclass(frozen=True, slots=True)
class LogProbabilities:
    """``ln P(k|i)`` in doubles and singles; a difference of two is off by at most the error."""

    table: NDArray[np.float64]
    error: float
    coarse: NDArray[np.float32]
    coarse_error: float

    @classmethod
    def of(cls, weights: Weights) -> LogProbabilities:
        """Take the logarithms of the rows' probabilities."""
        with np.errstate(divide="ignore"):
            entries = np.log(weights.astype(np.float64))
        positive = weights > 0
        totals = np.log([math.fsum(row.tolist()) for row in weights])
        largest = max(float(np.abs(entries[positive]).max()), float(np.abs(totals).max()))
        table = np.where(positive, entries - totals[:, None], LOG_OF_ZERO)
        error = 64 * UNIT_ROUNDOFF * (1 + largest)
        steepest = float(np.abs(table[positive]).max())
        coarse_error = 5 * COARSE_ROUNDOFF * (1 + steepest) + error
        return cls(table, error, table.astype(np.float32), coarse_error)


class CloserRatios:
    """Λ of chosen triples in the widest float that the platform has."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._totals = np.array([_wide_total(row.tolist()) for row in weights], dtype=np.longdouble)

    def of(
        self, i: NDArray[np.intp], j: NDArray[np.intp], k: NDArray[np.intp]
    ) -> tuple[NDArray[np.longdouble], NDArray[np.longdouble]]:
        """Return Λ and the bound on its error; both infinite where the quotient overflows."""
        row, other = (self._weights[at, k].astype(np.longdouble) for at in (i, j))
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            ratios = np.log(row / other * (self._totals[j] / self._totals[i]))
        return ratios, 16 * EXTENDED_ROUNDOFF * (1 + np.abs(ratios))


class ExactRatios:
    """Exact answers about single triples (i, j, k) of rows of weights."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._totals: dict[int, Fraction] = {}

    def exceeds(self, triple: tuple[int, int, int], exponent: Fraction) -> bool:
        """Return whether ``Λ > exponent``, for an exponent that is not negative."""
        quotient = self._quotient(*triple)
        if exponent == 0 or quotient <= 1:
            return quotient > 1
        digits = FIRST_DIGITS
        while True:
            low, high = enclose_logarithm(quotient, digits)
            if low > exponent or high < exponent:
                return low > exponent
            digits = _more(digits)

    def smallest_epsilon(self, triple: tuple[int, int, int], distance_km: float) -> float:
        """Return the smallest double, from 0 on, that is at least ``Λ / distance``."""
        quotient = self._quotient(*triple)
        if quotient <= 1:
            return 0.0
        if distance_km == 0:
            return math.inf
        digits = FIRST_DIGITS
        while True:
            low, high = enclose_logarithm(quotient, digits)
            ends = {_double_at_least(end / Fraction(distance_km)) for end in (low, high)}
            if len(ends) == 1:
                return ends.pop()
            digits = _more(digits)

    def _quotient(self, i: int, j: int, k: int) -> Fraction:
        numerator = Fraction(self._weights[i, k].item()) * self._total(j)
        return numerator / (Fraction(self._weights[j, k].item()) * self._total(i))

    def _total(self, row: int) -> Fraction:
        if row not in self._totals:
            parts = exact_parts(self._weights[row].tolist())
            self._totals[row] = sum(map(Fraction, parts), Fraction(0))
        return self._totals[row]


def exact_parts(numbers: list[float] | list[int]) -> list[float] | list[int]:
    """Return a few numbers, the largest first, whose exact sum is that of all the numbers.

    ``math.fsum`` rounds the exact sum once; what it rounded away is the next part.
    """
    if isinstance(numbers[0], int):
        return [sum(numbers)]
    parts: list[float] = []
    while rest := math.fsum([*numbers, *(-part for part in parts)]):
        parts.append(rest)
    return parts


def enclose_logarithm(quotient: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals around ``ln(quotient)``, for a quotient above one.

    Near one, the quotient is carried with as many more digits as it agrees with one. Division and
    logarithm are each correctly rounded by the ``decimal`` module, to a relative error of half a
    unit: the first moves the logarithm by at most one unit, the second by its size in units.
    """
    excess = quotient - 1
    bits = excess.denominator.bit_length() - excess.numerator.bit_length() + 1
    precision = digits + max(0, math.ceil(bits * math.log10(2)))
    with decimal.localcontext() as context:
        context.prec = precision
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        value = decimal.Decimal(quotient.numerator) / decimal.Decimal(quotient.denominator)
        logarithm = Fraction(value.ln())
    slack = Fraction(1, 10 ** (precision - 1)) * (2 + abs(logarithm))
    return logarithm - slack, logarithm + slack


def _wide_total(numbers: list[float] | list[int]) -> np.longdouble:
    """Return the sum of the numbers as a long double, off by at most 2u."""
    parts = exact_parts(numbers)
    if isinstance(parts[0], int):  # numpy reads a large int through a double: hand it over in two
        return np.longdouble(parts[0] >> 40) * np.longdouble(2**40) + np.longdouble(
            parts[0] % 2**40
        )
    return sum((np.longdouble(part) for part in reversed(parts)), start=np.longdouble(0))


def _double_at_least(value: Fraction) -> float:
    """Return the smallest double that is at least a value; infinity beyond the largest."""
    if value > LARGEST_DOUBLE:
        return math.inf
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _more(digits: int) -> int:
    if digits > MOST_DIGITS:
        raise ArithmeticError(f"{digits} digits leave undecided what a few dozen always decide")
    return 2 * digits
