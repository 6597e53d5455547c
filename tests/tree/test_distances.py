"""Haversine against 50-digit arithmetic, and as the metric that the theorems need."""

import math
import re
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidCell, InvalidInput
from geocorgi.tree import cells, distances
from geocorgi.tree.distances import EARTH_RADIUS_KM, between_cells, between_points, haversine_km
from geocorgi.tree.location_tree import LocationTree

SF = "86283082fffffff"
LEAVES = cells.descendants(SF, 8)
HALF_GLOBE_KM = math.pi * EARTH_RADIUS_KM
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)
points = st.tuples(latitudes, longitudes)


def _sine(x: Decimal) -> Decimal:
    term = total = x
    for n in range(2, 200, 2):
        term *= -x * x / (n * (n + 1))
        total += term
    return total


def _arc_sine(y: Decimal) -> Decimal:
    if y > Decimal("0.8"):  # steep there
        return PI / 2 - _arc_sine((1 - y * y).sqrt())
    x = Decimal(math.asin(y))
    for _ in range(4):  # Newton doubles the digits each time
        x += (y - _sine(x)) / _sine(PI / 2 - x)
    return x


def _exact_km(one: tuple[float, float], other: tuple[float, float]) -> Decimal:
    """The haversine formula as textbooks print it, in 70 digits."""
    with localcontext() as context:
        context.prec = 70
        (phi, lam), (to_phi, to_lam) = (
            [Decimal(degrees) * PI / 180 for degrees in point] for point in (one, other)
        )
        cosines = _sine(PI / 2 - phi) * _sine(PI / 2 - to_phi)
        square = _sine((to_phi - phi) / 2) ** 2 + cosines * _sine((to_lam - lam) / 2) ** 2
        chord = min(square, Decimal(1)).sqrt()
        return 2 * Decimal("6371.0088") * _arc_sine(chord)


def _relative_error(one: tuple[float, float], other: tuple[float, float]) -> float:
    exact, got = _exact_km(one, other), Decimal(float(haversine_km(*one, *other)))
    return float(abs(got - exact) / exact) if exact else float(got)


def test_the_reference_knows_a_quarter_of_the_globe() -> None:
    with localcontext() as context:
        context.prec = 70
        quarter = PI / 2 * Decimal("6371.0088")
        assert abs(_exact_km((0.0, 0.0), (0.0, 90.0)) - quarter) < Decimal("1e-60")
        assert abs(_exact_km((0.0, 12.5), (90.0, 77.0)) - quarter) < Decimal("1e-60")


@given(points, points)
@example((89.99, 10.0), (89.99, -100.0))  # near a pole the cosine of a latitude loses digits
@example((-89.9999, 10.0), (-89.9998, 11.0))
@example((51.0, 179.9999999), (51.0, -179.9999999))  # and here the difference of longitudes
@example((1e-9, 0.0), (-1e-9, 1e-9))
@example((0.0, 180.0), (0.0, 1.192092896e-07))
@settings(deadline=None)
def test_a_distance_below_a_quarter_of_the_globe_is_right_to_the_last_places(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    exact = _exact_km(one, other)
    if exact < 1e-12:  # a nanometre: below it the squares underflow, and no two cells stand so
        assert haversine_km(*one, *other) < 2e-12
    elif exact < Decimal(HALF_GLOBE_KM / 2):
        assert _relative_error(one, other) < 2**-48
    else:  # beyond it, the arc sine is ill-conditioned: half the digits at antipodes
        assert _relative_error(one, other) < 2**-25


@given(points, st.integers(0, 15), st.integers(0, 5))
@example((90.0, 0.0), 15, 0)
@example((-90.0, 0.0), 9, 1)
@example((65.0, 180.0), 15, 2)
@example((-16.5, -180.0), 9, 3)
@settings(deadline=None)
def test_distances_of_neighbouring_cells_are_right_to_the_last_places(
    point: tuple[float, float], resolution: int, which: int
) -> None:
    cell = cells.cell_at(*point, resolution)
    neighbour = cells.neighbours(cell)[which % 5]
    one, other = cells.centre(cell), cells.centre(neighbour)
    assert _relative_error(one, other) < 2**-48
    in_a_table = between_cells([cell, neighbour])[0, 1]
    assert in_a_table == pytest.approx(float(haversine_km(*one, *other)), rel=2**-48)


@given(st.lists(points, min_size=1, max_size=8))
def test_distances_are_a_metric(some_points: list[tuple[float, float]]) -> None:
    table = between_points(*np.array(some_points).T)
    assert (table == table.T).all()
    assert (np.diagonal(table) == 0).all()
    assert ((table >= 0) & (table <= HALF_GLOBE_KM * (1 + 2**-50))).all()
    # The triangle inequality up to rounding; near antipodes that is what arc sine leaves of it.
    roundabout = (table[:, :, None] + table[None, :, :]).min(axis=1)
    near = table < HALF_GLOBE_KM / 2
    assert (table[near] <= roundabout[near] * (1 + 2**-47)).all()
    assert (table <= roundabout + 1e-3).all()


def test_the_triangle_inequality_holds_among_the_cells_of_a_tree() -> None:
    table = between_cells(LEAVES)
    roundabout = (table[:, :, None] + table[None, :, :]).min(axis=1)
    assert (table <= roundabout * (1 + 2**-50)).all()


@given(latitudes, longitudes, longitudes)
def test_all_longitudes_meet_at_the_poles(lat: float, lng: float, other: float) -> None:
    assert haversine_km(90, lng, 90, other) == haversine_km(-90, lng, -90, other) == 0
    assert haversine_km(90, lng, lat, lng) == haversine_km(90, other, lat, lng)


def test_the_antimeridian_is_one_line() -> None:
    assert haversine_km(10, 180, 10, -180) == 0
    assert haversine_km(10, 179.5, 10, -179.5) == haversine_km(10, 0.5, 10, -0.5)
    assert haversine_km(10, 180, 20, 170) == haversine_km(10, -180, 20, 170)


@pytest.mark.parametrize("point", [(0, 0), (37.7, -122.4), (90, 0), (-12.3456789, 179.9)])
def test_antipodes_are_half_the_globe_apart(point: tuple[float, float]) -> None:
    lat, lng = point
    away = haversine_km(lat, lng, -lat, lng - 180 if lng > 0 else lng + 180)
    assert away == pytest.approx(HALF_GLOBE_KM, rel=1e-7)  # half the digits: arc sine near one


def test_a_degree_of_the_equator_is_about_111_km() -> None:
    assert haversine_km(0, 0, 0, 1) == pytest.approx(111.195, abs=1e-3)
    assert haversine_km([0, 0], [0, 0], 0, [1, 2]).shape == (2,)


def test_a_table_is_the_distances_one_by_one_in_the_cells_order() -> None:
    some = LEAVES[:5][::-1]
    table = between_cells(some)
    for i, cell in enumerate(some):
        for j, other in enumerate(some):
            one_by_one = haversine_km(*cells.centre(cell), *cells.centre(other))
            assert table[i, j] == pytest.approx(float(one_by_one), rel=2**-50)
    assert between_cells([]).shape == (0, 0)


def test_the_table_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        between_cells(LEAVES)[0, 1] = 0.0


def test_the_nearest_other_cell_is_a_neighbour() -> None:
    table = np.array(between_cells(LEAVES))
    for row, nearest in enumerate(distances.nearest_km(LEAVES)):
        assert nearest == sorted(table[row])[1] > 0
    assert distances.nearest_km(LEAVES[:1]).tolist() == [math.inf]


@pytest.mark.parametrize(
    ("lats", "lngs"),
    [
        ([0, 1], [0]),
        ([[0]], [[0]]),
        (0, 0),
        ([91], [0]),
        ([0], [181]),
        ([math.nan], [0]),
        ([0], [math.inf]),
    ],
)
def test_points_that_are_none_are_refused(lats: object, lngs: object) -> None:
    with pytest.raises(InvalidInput):
        between_points(lats, lngs)  # type: ignore[arg-type]


def test_cells_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidCell):
        between_cells([SF, "nowhere"])


def test_the_sphere_is_defined_once() -> None:
    source = Path(distances.__file__).parents[1]
    radius = re.compile(r"6_?371[._]?0?088|6_?378[._]137")
    found = [path.name for path in source.rglob("*.py") if radius.search(path.read_text("utf-8"))]
    assert found == ["distances.py"]
    assert str(EARTH_RADIUS_KM) in distances.DEFINITION


def test_the_distances_of_a_subtree_are_computed_once():
    leaves = LocationTree("88283082a9fffff", 1).leaves
    assert distances.between_cells(leaves) is distances.between_cells(list(leaves))
