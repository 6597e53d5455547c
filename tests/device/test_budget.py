"""What fresh draws cost, over a window that slides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.budget import Charge, balance
from geocorgi.device.policy import Budget
from geocorgi.errors import InvalidPolicy

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def after(hours: float) -> datetime:
    return NOON + hours * HOUR


def test_three_times_a_tenth_is_three_tenths():
    charges = [Charge(NOON, 0.1)] * 2
    assert balance(charges, Budget(ceiling_per_km=0.3), NOON, 0.1).fits
    assert not balance(charges, Budget(ceiling_per_km=0.3), NOON, 0.1000000000000001).fits


def test_the_ceiling_frees_when_enough_has_slid_out_and_not_a_moment_before():
    charges = [Charge(after(0), 1.0), Charge(after(1), 1.0), Charge(after(2), 3.0)]
    budget = Budget(10, 5.0)
    state = balance(charges, budget, after(3), 2.0)
    assert (state.spent_per_km, state.draws, state.fits) == (5.0, 3, False)
    assert state.frees_at == after(11)
    assert not balance(charges, budget, after(11) - timedelta(microseconds=1), 2.0).fits
    assert balance(charges, budget, after(11), 2.0).fits


def test_what_is_dearer_than_the_ceiling_never_fits():
    state = balance([], Budget(ceiling_per_km=5.0), NOON, 5.1)
    assert (state.fits, state.frees_at) == (False, None)


def test_without_a_ceiling_everything_fits_and_is_counted():
    state = balance([Charge(NOON, 7.0)] * 100, Budget(), NOON, 7.0)
    assert (state.fits, state.spent_per_km, state.draws) == (True, 700.0, 100)


def test_a_clock_that_was_set_back_frees_nothing():
    assert not balance([Charge(after(48), 5.0)], Budget(ceiling_per_km=5.0), NOON, 1.0).fits


CHARGES = st.lists(st.tuples(st.integers(0, 100), st.sampled_from([0.1, 0.25, 1.0, 3.0])))


@given(CHARGES, st.sampled_from([0.3, 1.0, 4.0]), st.integers(1, 60))
def test_no_stretch_as_long_as_the_period_holds_more_than_the_ceiling(wishes, ceiling, period):
    budget, granted = Budget(period, ceiling), []
    for hour, epsilon in sorted(wishes):
        if balance(granted, budget, after(hour), epsilon).fits:
            granted.append(Charge(after(hour), epsilon))
    for first in granted:
        within = [c for c in granted if first.time <= c.time < first.time + period * HOUR]
        assert sum(round(c.epsilon_per_km * 100) for c in within) <= round(ceiling * 100)


@given(CHARGES, st.sampled_from([0.3, 1.0, 4.0]), st.integers(1, 60))
def test_the_time_at_which_it_frees_is_the_first_at_which_it_fits(past, ceiling, period):
    budget, charges = Budget(period, ceiling), [Charge(after(h), e) for h, e in past]
    state = balance(charges, budget, after(100), 0.25)
    if state.frees_at is not None:
        assert balance(charges, budget, state.frees_at, 0.25).fits
        earlier = state.frees_at - timedelta(microseconds=1)
        assert not balance(charges, budget, earlier, 0.25).fits


def test_a_period_is_at_most_a_century():
    state = balance([Charge(NOON, 1.0)], Budget(24 * 36_525, 1.0), after(24 * 36_524), 1.0)
    assert not state.fits
    assert state.frees_at == NOON + timedelta(days=36_525)
    for hours in (24 * 36_525 + 1, 1e300, float("inf"), float("nan"), 0, -1):
        with pytest.raises(InvalidPolicy, match="a period is"):
            Budget(hours, 1.0)
