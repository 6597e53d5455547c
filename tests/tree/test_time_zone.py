"""Local time where a leaf is."""

from __future__ import annotations

from datetime import UTC, datetime

from geocorgi.tree import cells
from geocorgi.tree.time_zone import local_time, zone_of


def test_summer_time_is_kept():
    leaf = cells.cell_at(37.77, -122.42, 9)
    assert zone_of(leaf).key == "America/Los_Angeles"
    assert local_time(leaf, datetime(2024, 1, 15, 20, tzinfo=UTC)).hour == 12
    assert local_time(leaf, datetime(2024, 7, 15, 20, tzinfo=UTC)).hour == 13
    before, after = (datetime(2024, 3, 10, hour, 30, tzinfo=UTC) for hour in (9, 10))
    assert local_time(leaf, before).hour == 1
    assert local_time(leaf, after).hour == 3


def test_the_zone_changes_where_the_centre_of_the_leaf_lies():
    places = {(37.77, -122.42): "America/Los_Angeles", (48.86, 2.35): "Europe/Paris"}
    for (latitude, longitude), zone in places.items():
        assert zone_of(cells.cell_at(latitude, longitude, 9)).key == zone
