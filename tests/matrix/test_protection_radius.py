"""The plain radius says what the definition says."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.errors import InvalidEpsilon
from geocorgi.matrix.protection_radius import epsilon_within, protection_radius_km


@given(st.floats(0.01, 1_000))
def test_a_radius_and_its_epsilon_are_two_ways_to_say_one_thing(epsilon):
    radius = protection_radius_km(epsilon)
    assert math.exp(epsilon * radius) == pytest.approx(4)
    assert epsilon_within(radius) == pytest.approx(epsilon)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, 1e-12])
def test_a_radius_that_is_none_is_refused(radius):
    with pytest.raises(InvalidEpsilon):
        epsilon_within(radius)
