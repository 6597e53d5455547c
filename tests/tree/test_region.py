"""Every point of a region has its leaf in exactly one of the region's trees."""

import contextlib
import json
import math
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import BadFile, GeocorgiError, InvalidInput, InvalidRegion, InvalidTree
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.region import cover_region, leaves_of_region, read_region

Box = tuple[float, float, float, float]  # west, south, east, north, as in GeoJSON
CITY: Box = (-122.52, 37.70, -122.36, 37.82)


def ring(box: Box) -> list[list[float]]:
    west, south, east, north = box
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def polygon(*boxes: Box) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [ring(box) for box in boxes]}


def several(*boxes: Box) -> dict[str, Any]:
    return {"type": "MultiPolygon", "coordinates": [[ring(box)] for box in boxes]}


def feature(geometry: object) -> dict[str, Any]:
    return {"type": "Feature", "properties": {}, "geometry": geometry}


def some_points(box: Box, count: int = 500) -> list[tuple[float, float]]:
    west, south, east, north = box
    chance = random.Random(7)  # noqa: S311
    corners = [(south, west), (south, east), (north, west), (north, east)]
    return corners + [
        (chance.uniform(south, north), chance.uniform(west, east)) for _ in range(count)
    ]


def trees_of(point: tuple[float, float], trees: tuple[LocationTree, ...]) -> int:
    return sum(tree.contains_point(*point) for tree in trees)


def assert_covers(trees: tuple[LocationTree, ...], *boxes: Box) -> None:
    assert list(trees) == sorted(set(trees), key=lambda tree: tree.root)
    for box in boxes:
        for point in some_points(box):
            assert trees_of(point, trees) == 1


@st.composite
def small_boxes(draw: st.DrawFn) -> Box:
    """Boxes from a micron to a tenth of a degree anywhere, touching the edges of the map too."""
    size = draw(st.sampled_from([1e-11, 1e-6, 1e-3, 0.1]))
    west = draw(st.one_of(st.floats(-180, 180 - size), st.sampled_from([-180.0, 180 - size])))
    south = draw(st.one_of(st.floats(-90, 90 - size), st.sampled_from([-90.0, 90 - size])))
    return west, south, min(180.0, west + size), min(90.0, south + size)


@given(small_boxes())
@settings(max_examples=60, deadline=None)
def test_every_point_of_a_box_has_its_leaf_in_exactly_one_tree(box: Box) -> None:
    trees = cover_region(polygon(box), 5, 8)
    assert {(tree.root_resolution, tree.height) for tree in trees} == {(5, 3)}
    west, south, east, north = box
    chance = random.Random(3)  # noqa: S311
    for _ in range(20):
        point = chance.uniform(south, north), chance.uniform(west, east)
        assert trees_of(point, trees) == 1


def test_every_point_of_a_city_has_its_leaf_in_exactly_one_tree() -> None:
    assert_covers(cover_region(polygon(CITY), 6, 9), CITY)


def test_no_tree_stands_apart_from_the_region() -> None:
    near = (CITY[0] - 0.2, CITY[1] - 0.2, CITY[2] + 0.2, CITY[3] + 0.2)
    for tree in cover_region(polygon(CITY), 6, 9):
        latitude, longitude = cells.centre(tree.root)
        assert near[1] < latitude < near[3]
        assert near[0] < longitude < near[2]


def test_a_point_inside_a_roots_outline_may_belong_to_the_neighbouring_tree() -> None:
    # The roots that overlap the region would not do: the coarse cell at this point is one root,
    # the ancestor of its leaf another. A region around such a point gets the tree of its leaf.
    stray = [
        point
        for point in some_points(CITY, 3000)
        if cells.cell_at(*point, 6) != cells.ancestor(cells.cell_at(*point, 9), 6)
    ]
    assert len(stray) > 50
    for latitude, longitude in stray[:50]:
        tiny = (longitude - 1e-9, latitude - 1e-9, longitude + 1e-9, latitude + 1e-9)
        roots = [tree.root for tree in cover_region(polygon(tiny), 6, 9)]
        assert cells.ancestor(cells.cell_at(latitude, longitude, 9), 6) in roots
        if len(roots) == 1:
            assert cells.cell_at(latitude, longitude, 6) not in roots


def test_a_polygon_smaller_than_a_leaf_gets_a_tree() -> None:
    speck = (2.35, 48.85, 2.35 + 1e-12, 48.85 + 1e-12)
    trees = cover_region(polygon(speck), 6, 9)
    assert len(trees) == 1
    assert trees[0].contains_point(48.85, 2.35)


def test_a_region_inside_one_leaf_gets_that_leafs_tree() -> None:
    leaf = cells.cell_at(37.77, -122.42, 9)
    latitude, longitude = cells.centre(leaf)
    inside = (longitude - 1e-4, latitude - 1e-4, longitude + 1e-4, latitude + 1e-4)
    assert cover_region(polygon(inside), 9, 9) == (LocationTree(leaf, 0),)


@pytest.mark.parametrize(
    ("west", "east", "resolution"),
    [
        ((179, 10, 180, 11), (-180, 10, -179, 11), 4),
        ((170, 70, 180, 80), (-180, 70, -170, 80), 2),
        ((179.9, -17, 180, -16), (-180, -17, -179.9, -16), 5),
    ],
)
def test_an_area_across_the_antimeridian_comes_cut_in_two(
    west: Box, east: Box, resolution: int
) -> None:
    assert_covers(cover_region(several(west, east), resolution, resolution + 2), west, east)
    assert_covers(cover_region(polygon(west), resolution, resolution + 2), west)


def test_an_area_across_the_antimeridian_that_is_not_cut_is_refused() -> None:
    across = [[179, 10], [-179, 10], [-179, 11], [179, 11], [179, 10]]
    with pytest.raises(InvalidRegion, match="cut an area that crosses the antimeridian in two"):
        cover_region({"type": "Polygon", "coordinates": [across]}, 4, 6)


@pytest.mark.parametrize(
    "box",
    [(0, 88, 90, 90), (0, 88, 180, 90), (-180, -90, -90, -88), (0, 89.9999, 1, 90), (0, 89, 1, 90)],
)
def test_a_region_may_touch_a_pole(box: Box) -> None:
    assert_covers(cover_region(polygon(box), 2, 5), box)


def test_a_cap_around_a_pole_is_covered_if_its_edges_say_which_way_they_go() -> None:
    # H3 reads an edge longer than 180 degrees as going the other way round: 2 trees instead of
    # 13, and half of the points in none. So it is refused, and with positions in between it works.
    cap = (-180, 80, 180, 90)
    with pytest.raises(InvalidRegion, match="positions in between"):
        cover_region(polygon(cap), 1, 3)
    there = [[lng, 80] for lng in range(-180, 181, 60)]
    back = [[lng, 90] for lng in range(180, -181, -60)]
    in_steps = {"type": "Polygon", "coordinates": [[*there, *back, there[0]]]}
    assert_covers(cover_region(in_steps, 1, 3), cap)


def test_a_hole_needs_no_trees() -> None:
    hole = (-122.50, 37.72, -122.38, 37.80)
    with_hole = cover_region(polygon(CITY, hole), 8, 10)
    roots = {tree.root for tree in with_hole}
    assert roots < {tree.root for tree in cover_region(polygon(CITY), 8, 10)}
    assert trees_of((37.76, -122.44), with_hole) == 0
    for latitude, longitude in some_points(CITY):
        if not (hole[0] <= longitude <= hole[2] and hole[1] <= latitude <= hole[3]):
            assert trees_of((latitude, longitude), with_hole) == 1


def test_every_way_of_saying_the_same_areas_gives_the_same_trees() -> None:
    west, east = (-122.52, 37.70, -122.46, 37.82), (-122.40, 37.70, -122.36, 37.82)
    both = cover_region(several(west, east), 6, 8)
    members = [polygon(west), polygon(east)]
    ways: list[dict[str, Any]] = [
        feature(several(west, east)),
        {"type": "GeometryCollection", "geometries": members},
        {"type": "FeatureCollection", "features": [feature(member) for member in members]},
        {"type": "FeatureCollection", "features": [feature(several(west, east))] * 2},
        several(east, west) | {"bbox": [0, 0, 1, 1], "crs": None},
    ]
    for way in ways:
        assert cover_region(way, 6, 8) == both
    assert_covers(both, west, east)


def test_a_height_above_the_sea_is_ignored_and_so_is_the_rings_direction() -> None:
    flat = cover_region(polygon(CITY), 6, 8)
    high = {"type": "Polygon", "coordinates": [[[*position, 31.5] for position in ring(CITY)]]}
    assert cover_region(high, 6, 8) == flat
    other_way = {"type": "Polygon", "coordinates": [ring(CITY)[::-1]]}
    assert cover_region(other_way, 6, 8) == flat


def _with(position: list[Any]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], position, [0, 1], [0, 0]]]}


@pytest.mark.parametrize(
    "region",
    [
        {},
        {"type": None},
        {"type": 5},
        {"type": ["Polygon"]},
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "x" * 1000},
        {"type": "Polygon"},
        {"type": "Polygon", "coordinates": None},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]},
        {"type": "Polygon", "coordinates": ring(CITY)},
        {"type": "Polygon", "coordinates": {"0": ring(CITY)}},
        {"type": "MultiPolygon", "coordinates": [ring(CITY)]},
        {"type": "MultiPolygon", "coordinates": []},
        _with([math.nan, 1]),
        _with([1, math.inf]),
        _with([1]),
        _with([]),
        _with(["1", "1"]),
        _with([None, 1]),
        _with([10**400, 1]),
        _with([1, 91]),
        _with([181, 1]),
        {"type": "Feature"},
        feature(None),
        {"type": "FeatureCollection"},
        {"type": "FeatureCollection", "features": []},
        {"type": "FeatureCollection", "features": [None]},
        {"type": "FeatureCollection", "features": {"type": "Feature"}},
        {"type": "GeometryCollection", "geometries": "none"},
        [ring(CITY)],
        "Polygon",
        None,
    ],
)
def test_what_is_no_region_is_refused(region: Any) -> None:
    with pytest.raises(InvalidRegion) as refusal:
        cover_region(region, 6, 8)
    assert len(str(refusal.value)) < 200


def test_swapped_coordinates_are_told_apart_where_they_leave_the_globe() -> None:
    swapped = {"type": "Polygon", "coordinates": [[[y, x] for x, y in ring(CITY)]]}
    with pytest.raises(InvalidRegion, match=r"\[longitude, latitude\] in degrees, in this order"):
        cover_region(swapped, 6, 8)


def test_deep_nesting_is_refused() -> None:
    nested: dict[str, Any] = polygon(CITY)
    for _ in range(10_000):
        nested = {"type": "GeometryCollection", "geometries": [nested]}
    with pytest.raises(InvalidRegion):
        cover_region(nested, 6, 8)
    for first_and_last in (True, False):
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        positions = [deep, [1, 0], [1, 1], deep] if first_and_last else [[0, 0], deep, [1, 1]]
        with pytest.raises(InvalidRegion):
            cover_region({"type": "Polygon", "coordinates": [positions]}, 6, 8)


def _star(points: int) -> dict[str, Any]:
    """A thin zigzag around half of the world: little area, but a very long outline."""
    there = [[-80 + 160 * n / points, 60 if n % 2 else -60] for n in range(points)]
    back = [[lng, lat + 1e-9] for lng, lat in reversed(there)]
    return {"type": "Polygon", "coordinates": [[*there, *back, there[0]]]}


@pytest.mark.parametrize(
    ("region", "root", "leaf"),
    [
        (polygon((-80, -80, 80, 80)), 6, 9),
        (polygon((-80, -80, 80, 80)), 15, 15),
        (polygon(CITY), 6, 15),
        (polygon((0, 0, 90, 1e-9)), 15, 15),
        (_star(2000), 9, 12),
        ({"type": "FeatureCollection", "features": [feature(polygon(CITY))] * 20_000}, 6, 10),
    ],
)
def test_a_huge_region_is_refused_before_it_costs_anything(
    region: dict[str, Any], root: int, leaf: int
) -> None:
    begin = time.perf_counter()
    with pytest.raises(InvalidRegion, match="choose coarser leaves or cover it in parts"):
        cover_region(region, root, leaf)
    assert time.perf_counter() - begin < 5


BOW = [[-60, -40], [60, 40], [60, -40], [-60, 40], [-60, -40]]
NORTH = [[-60, 0], [60, 0], [60, 40], [-60, 40], [-60, 0]]
SOUTH = [[-60, -40], [60, -40], [60, 0], [-60, 0], [-60, -40]]


@pytest.mark.parametrize("rings", [[BOW], [NORTH, SOUTH]], ids=["crosses itself", "hole outside"])
def test_a_huge_region_whose_areas_cancel_out_is_refused_all_the_same(rings: Any) -> None:
    with pytest.raises(InvalidRegion, match="boxes around"):
        list(leaves_of_region({"type": "Polygon", "coordinates": rings}, 9))


def test_a_small_region_below_large_roots_is_not_huge() -> None:
    trees = cover_region(polygon((2.3, 48.8, 2.31, 48.81)), 0, 10)
    assert [tree.height for tree in trees] == [10]


@pytest.mark.parametrize("resolutions", [(9, 6), (-1, 3), (6, 16), (True, 3), (6.0, 9)])
def test_resolutions_that_are_none_are_refused(resolutions: tuple[int, int]) -> None:
    with pytest.raises((InvalidInput, InvalidTree)):
        cover_region(polygon(CITY), *resolutions)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(-200, 200), st.text(max_size=5)),
    lambda parts: st.one_of(
        st.lists(parts, max_size=5),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["Polygon", "MultiPolygon", "Feature", "FeatureCollection"])},
            optional=dict.fromkeys(("coordinates", "geometry", "features"), parts),
        ),
    ),
)


@given(json_values)
@settings(max_examples=60, deadline=None)
def test_nothing_but_a_refusal_comes_of_odd_json(region: Any) -> None:
    with contextlib.suppress(GeocorgiError):
        cover_region(region, 3, 4)


def test_a_region_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "city.geojson"
    path.write_text(json.dumps(feature(polygon(CITY))), encoding="utf-8")
    assert cover_region(read_region(path), 6, 8) == cover_region(polygon(CITY), 6, 8)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 1_000_000, "not valid JSON"),
        (b"1" * 10_000, "not valid JSON"),
        (b"[1, 2]", "expected an object"),
        (b"null", "expected an object"),
    ],
)
def test_a_file_that_holds_no_region_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "odd.geojson"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=f"odd.geojson is not GeoJSON.*{says}"):
        read_region(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot read none\.geojson: No such file"):
        read_region(tmp_path / "none.geojson")
    with pytest.raises(BadFile, match="cannot read"):
        read_region(tmp_path)


def test_a_file_of_many_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.geojson"
    with path.open("wb") as file:
        file.truncate(20_000_001)
    with pytest.raises(BadFile, match="larger than 20,000,000 bytes"):
        read_region(path)
