"""Distances between cell centres, in kilometres, on one sphere.

Every distance in this project is the haversine distance between the centres of two cells on a
sphere of ``EARTH_RADIUS_KM`` (the mean radius R1 of the IUGG). It is computed here and nowhere
else; ``DEFINITION`` is what maps and matrices publish about it.

Accuracy. Everything is subtracted *in degrees*, where the subtraction of near values is exact
(Sterbenz), before anything else happens: latitudes, longitudes (the shorter way round, so that
the antimeridian costs no digits) and latitudes from the poles (where a cosine would lose them).
What follows is a handful of correctly conditioned operations, so a distance below a quarter of
the globe carries a relative error of a few units in the last place (below 2^-48;
tests/tree/test_distances.py checks it against 50-digit arithmetic). Another machine's mathematics
library may move H3's centres themselves by about 1e-12 km; what is to hold everywhere must leave
that much room.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geocorgi.errors import InvalidInput
from geocorgi.tree import cells

Table = NDArray[np.float64]
EARTH_RADIUS_KM = 6371.0088
REMEMBERED = 8  # tables; one of 2,401 cells takes 46 MB
DEFINITION = f"haversine between H3 cell centres, km, sphere of radius {EARTH_RADIUS_KM} km"


def haversine_km(
    latitude: ArrayLike, longitude: ArrayLike, to_latitude: ArrayLike, to_longitude: ArrayLike
) -> Table:
    """Return the great-circle distance between points in degrees; arrays broadcast.

    Paper: §2.1, the distance of Eq. (3).
    """
    half_phi = np.radians(np.subtract(to_latitude, latitude, dtype=np.float64) / 2)
    half_lambda = np.radians(_longitudes_apart(longitude, to_longitude) / 2)
    cosines = _cosine(latitude) * _cosine(to_latitude)
    square = np.sin(half_phi) ** 2 + cosines * np.sin(half_lambda) ** 2
    chord = np.sqrt(np.minimum(square, 1.0))  # rounding may lift antipodes above one
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(chord), dtype=np.float64)


def between_points(latitudes: ArrayLike, longitudes: ArrayLike) -> Table:
    """Return all distances between the points: read-only, symmetric, zero diagonal, exactly."""
    lat = np.asarray(latitudes, dtype=np.float64)
    lng = np.asarray(longitudes, dtype=np.float64)
    if lat.ndim != 1 or lat.shape != lng.shape:
        raise InvalidInput("distances need as many latitudes as longitudes, each a flat list")
    if not (np.all(np.abs(lat) <= 90) and np.all(np.abs(lng) <= 180)):
        raise InvalidInput("latitudes run from -90 to 90 and longitudes from -180 to 180 degrees")
    table = haversine_km(lat[:, None], lng[:, None], lat[None, :], lng[None, :])
    # Both halves are the same if the library rounds alike wherever a number stands: keep one.
    upper = np.triu(table, 1)
    table = upper + upper.T
    table.setflags(write=False)
    return table


def between_cells(some_cells: Sequence[str]) -> Table:
    """Return all distances between the centres of the cells, in their order.

    A subtree's distances are computed once: the tables last asked for are remembered.
    """
    return _between_cells(tuple(some_cells))


@lru_cache(maxsize=REMEMBERED)
def _between_cells(some_cells: tuple[str, ...]) -> Table:
    return between_points(*cells.centres(some_cells))


def nearest_km(some_cells: Sequence[str]) -> Table:
    """Return the distance from each of the cells to the nearest other one."""
    table = np.array(between_cells(some_cells))
    np.fill_diagonal(table, np.inf)
    return np.asarray(table.min(axis=1), dtype=np.float64)


def _longitudes_apart(one: ArrayLike, other: ArrayLike) -> Table:
    """Return the degrees between longitudes, the shorter way round."""
    direct = np.abs(np.subtract(one, other, dtype=np.float64))
    across = np.subtract(180.0, np.abs(one)) + np.subtract(180.0, np.abs(other))
    return np.asarray(np.minimum(direct, across), dtype=np.float64)


def _cosine(latitude: ArrayLike) -> Table:
    """Return the cosine as the sine of the distance to the nearer pole."""
    return np.asarray(np.sin(np.radians(np.subtract(90.0, np.abs(latitude)))), dtype=np.float64)
