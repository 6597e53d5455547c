"""Tables by cell, by point and by area say the same of the leaves they are about."""

from __future__ import annotations

import json
from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.attributes import table as table_module
from geocorgi.device.attributes.gathering import gatherer
from geocorgi.device.attributes.gridding import values_over
from geocorgi.device.attributes.own_places import OwnPlaces, write_own_places
from geocorgi.device.attributes.table import Row, read_table, rows_of
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import Preference
from geocorgi.device.sources import Source
from geocorgi.device.units import Kind
from geocorgi.errors import BadFile, GeocorgiError
from geocorgi.tree import cells
from tests.wire.maps import LEAVES, TREE, small_map

SPEEDS = {LEAVES[0]: 30.0, LEAVES[5]: 12.5, LEAVES[40]: 50.0}
BY_CELL = "cell,speed\n" + "".join(f"{leaf},{speed}\n" for leaf, speed in SPEEDS.items())
BY_POINT = "speed,longitude,latitude,more\n" + "".join(
    "{},{!r},{!r},x\n".format(speed, *reversed(cells.centre(leaf)))
    for leaf, speed in SPEEDS.items()
)
FEATURES = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": list(reversed(cells.centre(leaf)))},
            "properties": {"speed": speed},
        }
        for leaf, speed in SPEEDS.items()
    ],
}
NUMBER = Source(Kind.NUMBER, table="t.csv")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", BY_CELL),
        ("t.csv", "\ufeff" + BY_CELL.replace("\n", "\r\n")),
        ("t.csv", BY_POINT),
        ("t.geojson", json.dumps(FEATURES)),
        ("t.json", json.dumps(SPEEDS)),
        ("t.json", json.dumps({leaf: {"speed": str(speed)} for leaf, speed in SPEEDS.items()})),
    ],
)
def test_every_kind_of_table_says_the_same(tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf-8", newline="")
    known = values_over(read_table(tmp_path / name, "speed"), NUMBER, LEAVES)
    assert dict(known.values) == SPEEDS
    assert known.trouble is None


def test_parquet_by_cell_and_by_point(tmp_path):
    latitudes, longitudes = zip(*map(cells.centre, SPEEDS), strict=True)
    cell = {"cell": list(SPEEDS), "speed": list(SPEEDS.values())}
    point = {"latitude": latitudes, "longitude": longitudes, "speed": list(SPEEDS.values())}
    for rows in (cell, point):
        pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
        known = values_over(read_table(tmp_path / "t.parquet", "speed"), NUMBER, LEAVES)
        assert dict(known.values) == SPEEDS


def test_an_area_counts_for_the_leaves_inside():
    corners = [[lng, lat] for lat, lng in cells.boundary(TREE.nodes(1)[2])]
    area = {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}
    known = values_over([Row(area, True)], Source(Kind.BOOLEAN, table="t"), LEAVES)
    assert LEAVES[14] in known.values
    assert 4 <= len(known.values) <= 10


def test_a_coarse_cell_counts_for_its_leaves_a_fine_one_for_the_leaf_around_it():
    rows = [Row(TREE.nodes(1)[1], 3), Row(cells.descendants(LEAVES[0], 10)[2], 5)]
    known = values_over(rows, NUMBER, LEAVES)
    assert dict(known.values) == dict.fromkeys(LEAVES[7:14], 3.0) | {LEAVES[0]: 5.0}


@pytest.mark.parametrize(
    ("kind", "said", "together"),
    [
        (Kind.BOOLEAN, ["false", "0", True], True),
        (Kind.BOOLEAN, [False, "False"], False),
        (Kind.NUMBER, [1, "2", 6.0], 3.0),
        (Kind.CATEGORY, ["rain", "sun", "rain"], "rain"),
        (Kind.CATEGORY, ["sun", "rain"], "rain"),
    ],
)
def test_several_rows_become_one_value(kind, said, together):
    rows = [Row(LEAVES[0], value) for value in said]
    assert values_over(rows, Source(kind, table="t"), LEAVES).values[LEAVES[0]] == together


def test_units_become_the_base_unit():
    for unit, kind, said, base in (
        ("m", Kind.LENGTH, 500, 0.5), ("hours", Kind.TIME, 2, 120.0),
        ("°F", Kind.TEMPERATURE, 50, 10.0),
    ):  # fmt: skip
        known = values_over([Row(LEAVES[0], said)], Source(kind, table="t", unit=unit), LEAVES)
        assert known.values[LEAVES[0]] == pytest.approx(base)


def test_what_cannot_be_understood_is_counted_and_its_leaf_unknown():
    rows = [
        Row(LEAVES[0], "fast"), Row("nowhere", 3), Row((95, 0), 3), Row(LEAVES[1], float("inf")),
        Row(LEAVES[2], True), Row({"type": "Line"}, 3), Row(7, 3), Row(LEAVES[3], ""),
        Row(LEAVES[4], None), Row(LEAVES[5], 8),
    ]  # fmt: skip
    known = values_over(rows, NUMBER, LEAVES)
    assert dict(known.values) == {LEAVES[5]: 8.0}
    assert known.trouble == "7 rows of its source cannot be understood"


def test_rows_outside_the_map_are_nobodys_business():
    assert values_over([Row("89283082b6fffff", 3)], NUMBER, LEAVES).values == {}


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_noise_is_a_table_or_is_refused(noise):
    for content in (
        noise,
        b"cell,speed\n" + noise,
        b'{"type":"FeatureCollection","features":' + noise,
    ):
        try:
            rows = rows_of(content, "speed", "it")
        except GeocorgiError:
            continue
        values_over(rows, NUMBER, LEAVES)


def test_files_are_bounded(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(BY_CELL)
    monkeypatch.setattr(table_module, "MOST_ROWS", 2)
    with pytest.raises(BadFile, match="more than 2 rows"):
        read_table(tmp_path / "t.csv", "speed")
    monkeypatch.setattr(table_module, "LARGEST_BYTES", 10)
    with pytest.raises(BadFile, match="larger than 10 bytes"):
        read_table(tmp_path / "t.csv", "speed")
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(BadFile, match=name):
            read_table(tmp_path / name, "speed")


def test_only_what_is_wanted_is_read_and_what_is_missing_is_unknown(tmp_path):
    (tmp_path / "t.csv").write_text(BY_CELL)
    write_own_places(OwnPlaces(home=(LEAVES[3],)), tmp_path)
    sources = {
        "speed": Source(Kind.NUMBER, table="t.csv", time_to_live=timedelta(0)),
        "noise": Source(Kind.NUMBER, table="none.csv"),
        "never": Source(Kind.NUMBER, url="https://never.example/"),
    }
    wanted = [
        Preference("home", "=", False), Preference("speed", ">", 20), Preference("noise", "<", 5),
    ]  # fmt: skip
    policy = Policy(1, 0, wanted, sources=sources)
    found = gatherer(tmp_path, tmp_path)(policy, small_map())
    assert set(found) == {"home", "speed", "noise"}
    assert dict(found["speed"].values) == SPEEDS
    assert found["noise"].values == {}
    assert found["noise"].trouble == "cannot read none.csv: No such file or directory"
