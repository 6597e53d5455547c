"""The auditor's arithmetic: its stated errors hold, and its exact answers are exact."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.matrix.log_ratios import (
    CloserRatios,
    ExactRatios,
    LogProbabilities,
    enclose_logarithm,
    exact_parts,
)

weight = st.floats(min_value=1e-300, max_value=1.0, allow_nan=False)
rows_of_floats = st.lists(
    st.lists(weight, min_size=3, max_size=3), min_size=2, max_size=3
).map(np.array)  # fmt: skip
rows_of_integers = st.lists(
    st.lists(st.integers(1, 2**62), min_size=3, max_size=3), min_size=2, max_size=3
).map(lambda rows: np.array(rows, dtype=np.uint64))  # fmt: skip
weights = st.one_of(rows_of_floats, rows_of_integers)


def true_log_ratio(rows: np.ndarray, i: int, j: int, k: int) -> decimal.Decimal:
    """Λ to eighty digits, from the definition."""
    with decimal.localcontext() as context:
        context.prec = 80
        context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
        shares = [
            decimal.Decimal(rows[at, k].item()) / sum(decimal.Decimal(x) for x in rows[at].tolist())
            for at in (i, j)
        ]
        return shares[0].ln() - shares[1].ln()


@given(weights)
def test_double_precision_stays_within_its_stated_error(rows):
    logs = LogProbabilities.of(rows)
    for k in range(rows.shape[1]):
        found = Fraction(float(logs.table[0, k])) - Fraction(float(logs.table[1, k]))
        true = Fraction(true_log_ratio(rows, 0, 1, k))
        assert abs(found - true) <= logs.error
        assert abs(Fraction(float(logs.coarse[0, k] - logs.coarse[1, k])) - true) <= (
            logs.coarse_error
        )


@given(weights)
def test_extended_precision_stays_within_its_stated_error(rows):
    closer = CloserRatios(rows)
    columns = np.arange(rows.shape[1])
    ratios, errors = closer.of(np.zeros_like(columns), np.ones_like(columns), columns)
    for k in columns:
        mantissa, exponent = np.frexp(ratios[k])  # a long double, handed to Fraction in two halves
        high = float(mantissa)
        exact = (Fraction(high) + Fraction(float(mantissa - np.longdouble(high)))) * Fraction(
            2
        ) ** int(exponent)
        assert abs(exact - Fraction(true_log_ratio(rows, 0, 1, int(k)))) <= float(errors[k])


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_a_few_parts_carry_the_exact_sum(numbers):
    assert sum(map(Fraction, exact_parts(numbers)), Fraction(0)) == sum(map(Fraction, numbers))


@given(st.fractions(min_value=1, max_value=10**6).filter(lambda q: q > 1))
def test_a_logarithm_lies_in_its_enclosure_and_the_enclosure_is_narrow(quotient):
    low, high = enclose_logarithm(quotient, 36)
    with decimal.localcontext() as context:
        context.prec = 120
        ratio = decimal.Decimal(quotient.numerator) / decimal.Decimal(quotient.denominator)
        true = Fraction(ratio.ln())
    assert low < true < high
    assert high - low < true * Fraction(1, 10**33)


@pytest.mark.parametrize("offset", [1, -1])
def test_a_difference_in_the_hundredth_digit_is_decided(offset):
    # ln of a rational within 1e-100 of e^1: no float type in the world sees this difference.
    with decimal.localcontext() as context:
        context.prec = 130
        near = Fraction(decimal.Decimal(1).exp()) + Fraction(offset, 10**100)
    low, high = enclose_logarithm(near, 110)
    assert (low > 1) is (offset > 0)
    assert (high < 1) is (offset < 0)


def test_exceeds_is_strict_at_equality():
    exact = ExactRatios(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not exact.exceeds((0, 1, 0), Fraction(0))
    slightly = ExactRatios(np.array([[math.nextafter(1.0, 2), 1.0], [1.0, 1.0]]))
    assert slightly.exceeds((0, 1, 0), Fraction(0))
    assert not slightly.exceeds((1, 0, 0), Fraction(0))


@given(rows_of_integers, st.floats(1e-3, 1e3))
def test_the_smallest_epsilon_is_the_first_double_that_is_enough(rows, distance):
    exact = ExactRatios(rows)
    epsilon = exact.smallest_epsilon((0, 1, 0), distance)
    assert not exact.exceeds((0, 1, 0), Fraction(epsilon) * Fraction(distance))
    if epsilon > 0:
        below = math.nextafter(epsilon, 0)
        assert exact.exceeds((0, 1, 0), Fraction(below) * Fraction(distance))
