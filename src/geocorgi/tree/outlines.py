"""How far a point is from a cell's outline.

The sphere is projected from its centre to the plane that touches it at the point: great circles,
which a cell's edges are, become straight lines, and the nearest of them stays the nearest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from geocorgi.tree import cells
from geocorgi.tree.distances import EARTH_RADIUS_KM

Floats = NDArray[np.float64]


def outline_km(point: tuple[float, float], cell: str) -> float:
    """Return the distance from a point (in degrees) to the nearest point of the cell's outline.

    The cell is one of the hemisphere around the point.
    """
    corners = _projected(point, np.array(cells.boundary(cell)))
    edges = np.roll(corners, -1, axis=0) - corners
    along = -np.einsum("cd,cd->c", corners, edges) / np.einsum("cd,cd->c", edges, edges)
    nearest = corners + np.clip(along, 0.0, 1.0)[:, None] * edges
    return EARTH_RADIUS_KM * math.atan(float(np.hypot(*nearest.T).min()))


def _projected(point: tuple[float, float], corners: Floats) -> Floats:
    """Return where corners (in degrees) lie to the east and to the north of the point, in radii."""
    latitude = math.radians(point[0])
    phi, apart = np.radians(corners - np.array([0.0, point[1]])).T
    ahead = math.sin(latitude) * np.sin(phi) + math.cos(latitude) * np.cos(phi) * np.cos(apart)
    east = np.cos(phi) * np.sin(apart)
    # sin(phi - latitude), written so that near points lose no digits
    north = np.sin(phi - latitude) + 2 * math.sin(latitude) * np.cos(phi) * np.sin(apart / 2) ** 2
    return np.stack([east / ahead, north / ahead], axis=1)
