"""Distances between cell centres, in kilometres, on one sphere.

Every distance in this project is the haversine distance between the centres of two cells on a
sphere of ``EARTH_RADIUS_KM`` (the mean radius R1 of the IUGG). It is computed here and nowhere
else; ``DEFINITION`` is what maps and matrices publish about it.

Accuracy. Latitudes and longitudes are subtracted *in degrees*, where the subtraction of near
values is exact (Sterbenz), before anything else happens. What follows is a handful of correctly
conditioned operations, so a distance below a quarter of the globe carries a relative error of a
few units in the last place (below 2^-48; tests/tree/test_distances.py checks it against 50-digit
arithmetic). Another machine's mathematics library may move H3's centres themselves by about
1e-12 km; what is to hold everywhere must leave that much room.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geocorgi.errors import InvalidInput
from geocorgi.tree import cells

EARTH_RADIUS_KM = 6371.0088
DEFINITION = f"haversine between H3 cell centres, km, sphere of radius {EARTH_RADIUS_KM} km"


def haversine_km(
    latitude: ArrayLike, longitude: ArrayLike, to_latitude: ArrayLike, to_longitude: ArrayLike
) -> NDArray[np.float64]:
    """Return the great-circle distance between points in degrees; arrays broadcast.

    Paper: §2.1, the distance of Eq. (3).
    """
    phi, to_phi = np.radians(latitude), np.radians(to_latitude)
    half_phi = np.radians(np.subtract(to_latitude, latitude, dtype=np.float64) / 2)
    half_lambda = np.radians(np.subtract(to_longitude, longitude, dtype=np.float64) / 2)
    square = np.sin(half_phi) ** 2 + np.cos(phi) * np.cos(to_phi) * np.sin(half_lambda) ** 2
    chord = np.sqrt(np.minimum(square, 1.0))  # rounding may lift antipodes above one
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(chord), dtype=np.float64)


def between_points(latitudes: ArrayLike, longitudes: ArrayLike) -> NDArray[np.float64]:
    """Return all distances between the points, read-only, symmetric, with an exact zero diagonal."""
    lat = np.asarray(latitudes, dtype=np.float64)
    lng = np.asarray(longitudes, dtype=np.float64)
    if lat.ndim != 1 or lat.shape != lng.shape:
        raise InvalidInput("distances need as many latitudes as longitudes, each a flat list")
    if not (np.all(np.abs(lat) <= 90) and np.all(np.abs(lng) <= 180)):
        raise InvalidInput("latitudes run from -90 to 90 and longitudes from -180 to 180 degrees")
    table = haversine_km(lat[:, None], lng[:, None], lat[None, :], lng[None, :])
    # cos(a)·cos(b)·s² is rounded alike from both ends only by luck: keep one of the two.
    upper = np.triu(table, 1)
    table = upper + upper.T
    table.setflags(write=False)
    return table


def between_cells(some_cells: Sequence[str]) -> NDArray[np.float64]:
    """Return all distances between the centres of the cells, in their order."""
    return between_points(*cells.centres(some_cells))


def nearest_km(some_cells: Sequence[str]) -> NDArray[np.float64]:
    """Return the distance from each of the cells to the nearest other one."""
    table = np.array(between_cells(some_cells))
    np.fill_diagonal(table, np.inf)
    return np.asarray(table.min(axis=1), dtype=np.float64)
