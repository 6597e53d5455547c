"""The ground that pictures are drawn on."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.pictures.plane import Plane, plane_around
from geocorgi.tree import cells
from geocorgi.tree.distances import haversine_km

points = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@given(points, points)
def test_distances_from_the_middle_are_true(middle, point):
    across, up = Plane(*middle).km([point])[0]
    true = float(haversine_km(*middle, *point))
    assert np.isclose(np.hypot(across, up), true, rtol=1e-6, atol=1e-6)


@given(st.floats(-89, 89), st.floats(-180, 180))
def test_north_is_up(latitude, longitude):
    across, up = Plane(latitude, longitude).km([(latitude + 0.5, longitude)])[0]
    assert up > 0
    assert abs(across) < 1e-6


def test_cells_on_both_sides_of_the_antimeridian_lie_side_by_side():
    leaves = cells.descendants(cells.cell_at(0.0, 180.0, 5), 6)
    plane = plane_around(leaves)
    spread = np.ptp(plane.km([cells.centre(cell) for cell in leaves]), axis=0)
    assert (spread < 30).all()


def test_the_pole_is_drawn_like_any_other_place():
    leaves = cells.descendants(cells.cell_at(90.0, 0.0, 5), 6)
    plane = plane_around(leaves)
    assert np.abs(plane.km([cells.centre(cell) for cell in leaves])).max() < 30
