"""How far a cell's outline is, against many points along its edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.tree import cells, distances
from geocorgi.tree.outlines import outline_km


def unit(points: np.ndarray) -> np.ndarray:
    latitude, longitude = np.radians(points).T
    return np.stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ],
        axis=1,
    )


def nearest_of_many_km(point: tuple[float, float], cell: str) -> float:
    corners = unit(np.array(cells.boundary(cell)))
    shares = np.linspace(0, 1, 2_001)[:, None, None]
    along = (1 - shares) * corners + shares * np.roll(corners, -1, axis=0)
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    chords = np.linalg.norm(along - unit(np.array([point]))[0], axis=2)
    return float(2 * distances.EARTH_RADIUS_KM * np.arcsin(chords.min() / 2))


@given(
    st.floats(-90, 90),
    st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, 179.9999, 180.0])),
    st.integers(2, 11),
    st.integers(0, 6),
)
def test_it_is_the_distance_to_the_nearest_point_of_an_edge(latitude, longitude, resolution, which):
    around = cells.cell_at(latitude, longitude, resolution)
    cell = [around, *cells.neighbours(around)][min(which, len(cells.neighbours(around)))]
    size_km = cells.average_area_km2(resolution) ** 0.5
    expected = nearest_of_many_km((latitude, longitude), cell)
    found = outline_km((latitude, longitude), cell)
    assert found == pytest.approx(expected, abs=2e-3 * size_km)
    assert found <= expected + 1e-6 * size_km
