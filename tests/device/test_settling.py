"""A place that jitters is one place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.ledger import Ledger
from geocorgi.device.obfuscate import obfuscate
from geocorgi.device.policy import Policy
from geocorgi.device.settling import Settled, leaves_near, settle
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import InvalidInput
from geocorgi.tree import cells, distances
from geocorgi.tree.outlines import outline_km
from tests.device.forests import device_on, quick_forest
from tests.device.ledger_processes import LEAVES
from tests.wire.maps import small_map

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
NONE, HOUR = timedelta(0), timedelta(hours=1)
HERE = cells.centre(LEAVES[24])


@given(st.floats(-0.003, 0.003), st.floats(-0.003, 0.003), st.sampled_from([0.01, 0.05, 0.2]))
def test_what_is_near_is_what_the_point_reaches_by_moving_by_the_margin(north, east, margin_km):
    point = HERE[0] + north, HERE[1] + east
    near = leaves_near(point, 9, margin_km)
    assert near[0] == cells.cell_at(*point, 9)
    assert len(set(near)) == len(near)
    assert reached(point, 0.999 * margin_km) <= set(near)
    assert set(near[1:]) <= {
        cell for cell in ring(near[0], 3) if outline_km(point, cell) <= margin_km
    }


def reached(point: tuple[float, float], km: float) -> set[str]:
    bearings = np.linspace(0, 2 * np.pi, 90)
    degrees = np.degrees(km / distances.EARTH_RADIUS_KM)
    latitudes = point[0] + degrees * np.cos(bearings)
    longitudes = point[1] + degrees * np.sin(bearings) / np.cos(np.radians(point[0]))
    return set(cells.cells_at(latitudes, longitudes, 9))


def ring(cell: str, steps: int) -> set[str]:
    around = {cell}
    for _ in range(steps):
        around |= {other for known in around for other in cells.neighbours(known)}
    return around


@pytest.mark.parametrize("resolution", [9, 10, 11])
def test_the_settled_leaf_is_at_most_the_margin_away(resolution):
    corner = cells.boundary(LEAVES[24])[0]
    for step in range(20):
        point = corner[0] + step * 1e-5, corner[1] + step * 3e-5
        for leaf in leaves_near(point, resolution, 0.05)[1:]:
            assert outline_km(point, leaf) <= 0.05


def test_the_middle_of_a_leaf_is_near_to_nothing_else():
    assert leaves_near(HERE, 9, 0.05) == (LEAVES[24],)


def test_a_margin_of_many_leaves_is_refused():
    with pytest.raises(InvalidInput, match="margin"):
        leaves_near(HERE, 12, 1.0)


def test_jitter_around_an_edge_stays_where_it_settled():
    state = settle([LEAVES[0]], None, NOON, NONE)
    for near in ([LEAVES[1], LEAVES[0]], [LEAVES[0], LEAVES[1]], [LEAVES[1], LEAVES[0]]):
        state = settle(near, state, NOON, NONE)
        assert state.leaf == LEAVES[0]
    assert settle([LEAVES[1]], state, NOON, NONE).leaf == LEAVES[1]


def test_with_a_dwell_a_new_place_has_to_last():
    state = settle([LEAVES[0]], None, NOON, HOUR)
    passing = settle([LEAVES[9]], state, NOON, HOUR)
    assert passing.leaf == LEAVES[0]
    assert settle([LEAVES[9]], passing, NOON + HOUR / 2, HOUR).leaf == LEAVES[0]
    assert settle([LEAVES[8], LEAVES[9]], passing, NOON + HOUR, HOUR).leaf == LEAVES[9]
    elsewhere = settle([LEAVES[20]], passing, NOON + HOUR, HOUR)
    assert (elsewhere.leaf, elsewhere.since) == (LEAVES[0], NOON + HOUR)
    back = settle([LEAVES[0]], passing, NOON + HOUR, HOUR)
    assert back.towards is None


def test_a_clock_that_was_set_back_begins_the_dwell_again():
    state = Settled(LEAVES[0], LEAVES[9], NOON + HOUR)
    again = settle([LEAVES[9]], state, NOON, HOUR)
    assert (again.leaf, again.since) == (LEAVES[0], NOON)


def test_leaves_of_another_size_are_another_map():
    finer = cells.cell_at(*HERE, 10)
    assert settle([finer], Settled(LEAVES[0]), NOON, HOUR).leaf == finer


def test_a_settled_place_says_nothing_of_itself():
    assert LEAVES[0] not in repr(Settled(LEAVES[0]))


def test_where_she_settled_outlives_the_process_and_jitter_costs_one_draw(tmp_path):
    moments = iter(NOON + n * HOUR / 4 for n in range(20))
    with Ledger(tmp_path, lambda: next(moments)) as ledger:
        assert ledger.settle([LEAVES[0]]) == LEAVES[0]
    with Ledger(tmp_path, lambda: next(moments)) as ledger:
        assert ledger.settle([LEAVES[1], LEAVES[0]]) == LEAVES[0]
        told = [ledger.settle([LEAVES[9]], HOUR) for _ in range(6)]
    assert told == [LEAVES[0]] * 4 + [LEAVES[9]] * 2


def test_a_receiver_that_wanders_over_an_edge_buys_one_draw(tmp_path):
    here, there = cells.centre(LEAVES[24]), cells.centre(cells.neighbours(LEAVES[24])[0])
    with Ledger(tmp_path) as ledger:
        device = replace(device_on(small_map(), quick_forest), memory=ledger, settle=ledger.settle)
        told = []
        for share in (0.49, 0.52, 0.48, 0.51, 0.53):
            point = tuple(a + share * (b - a) for a, b in zip(here, there, strict=True))
            told.append(obfuscate(Whereabouts(point), Policy(2, 0), device))
        assert [one.given.fresh for one in told] == [True, False, False, False, False]
        assert len({one.report.cell for one in told}) == 1
        assert not obfuscate(Whereabouts(here), Policy(2, 0), device).given.fresh
        assert obfuscate(Whereabouts(there), Policy(2, 0), device).given.fresh
