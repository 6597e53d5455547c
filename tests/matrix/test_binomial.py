"""Exact binomial bounds against sums of exact fractions, and against another library."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.stats import beta

from geocorgi.errors import InvalidInput
from geocorgi.matrix.binomial import at_least, lower_bound, upper_bound


def tail(successes: int, trials: int, p: Fraction) -> Fraction:
    """Return P(X >= successes), exactly."""
    return sum((chance_of(x, trials, p) for x in range(successes, trials + 1)), Fraction(0))


def chance_of(successes: int, trials: int, p: Fraction) -> Fraction:
    """Return P(X = successes), exactly."""
    return math.comb(trials, successes) * p**successes * (1 - p) ** (trials - successes)


@given(some.integers(1, 60), some.data(), some.fractions("1/1000", "1/2", max_denominator=1000))
def test_the_bounds_solve_their_equations_from_the_safe_side(trials, data, alpha):
    successes = data.draw(some.integers(0, trials))
    low = Fraction(lower_bound(successes, trials, float(alpha)))
    high = Fraction(upper_bound(successes, trials, float(alpha)))
    room = Fraction(1, 10**6)
    if successes:
        assert tail(successes, trials, low) <= alpha * (1 + room)
        assert tail(successes, trials, low * (1 + room)) >= alpha * (1 - room)
    else:
        assert low == 0
    if successes < trials:
        fewer = 1 - tail(successes + 1, trials, min(high, Fraction(1)))
        assert fewer <= alpha * (1 + room)
        assert 1 - tail(successes + 1, trials, high * (1 - room)) >= alpha * (1 - 10**4 * room)
    else:
        assert high == 1


@pytest.mark.parametrize("trials", [1, 2, 10, 50])
@pytest.mark.parametrize("p", [Fraction(1, 1000), Fraction(1, 3), Fraction(9, 10)])
def test_a_bound_covers_the_truth_as_often_as_it_says(trials, p):
    alpha = Fraction(1, 100)
    missed = sum(
        chance_of(x, trials, p)
        for x in range(trials + 1)
        if not lower_bound(x, trials, float(alpha)) <= p
    )
    assert missed <= alpha
    missed = sum(
        chance_of(x, trials, p)
        for x in range(trials + 1)
        if not upper_bound(x, trials, float(alpha)) >= p
    )
    assert missed <= alpha


@pytest.mark.parametrize(
    ("successes", "trials", "alpha"),
    [(500, 125_000, 1e-4), (124_999, 125_000, 1e-4), (60_000, 125_000, 4e-4), (1, 10**6, 1e-6)],
)
def test_large_counts_agree_with_another_library(successes, trials, alpha):
    low, high = lower_bound(successes, trials, alpha), upper_bound(successes, trials, alpha)
    assert low == pytest.approx(beta.ppf(alpha, successes, trials - successes + 1), rel=1e-7)
    assert high == pytest.approx(beta.ppf(1 - alpha, successes + 1, trials - successes), rel=1e-7)
    assert at_least(successes, trials, low) <= alpha


@pytest.mark.parametrize(
    ("successes", "trials", "alpha"),
    [(-1, 10, 0.1), (11, 10, 0.1), (0, 0, 0.1), (1, 2, 0), (1, 2, 1)],
)
def test_what_cannot_be_is_refused(successes, trials, alpha):
    for bound in (lower_bound, upper_bound):
        with pytest.raises(InvalidInput):
            bound(successes, trials, alpha)
