"""A flat piece of ground around a point, on which circles around that point are circles.

The azimuthal equidistant projection: kilometres east and north of the middle, with true distances
and directions from it. It knows no edge of the map, so cells at the antimeridian and at the poles
are drawn like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.tree import cells
from geocorgi.tree.distances import EARTH_RADIUS_KM

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plane:
    """The ground around a middle, in degrees."""

    latitude: float
    longitude: float

    def km(self, points: Sequence[tuple[float, float]]) -> Floats:
        """Return each point's kilometres east and north of the middle."""
        latitudes, longitudes = np.radians(np.array(points, dtype=np.float64).reshape(-1, 2)).T
        phi, turned = np.radians(self.latitude), longitudes - np.radians(self.longitude)
        east = np.cos(latitudes) * np.sin(turned)
        north = np.cos(phi) * np.sin(latitudes) - np.sin(phi) * np.cos(latitudes) * np.cos(turned)
        up = np.sin(phi) * np.sin(latitudes) + np.cos(phi) * np.cos(latitudes) * np.cos(turned)
        across = np.hypot(east, north)
        angle = np.arctan2(across, up)
        stretch = np.divide(angle, across, out=np.ones_like(angle), where=across > 0)
        return np.stack([east * stretch, north * stretch], axis=1) * EARTH_RADIUS_KM


def plane_around(some_cells: Sequence[str]) -> Plane:
    """Return the ground around the middle of the cells' centres."""
    latitudes, longitudes = np.radians(cells.centres(some_cells))
    x = float((np.cos(latitudes) * np.cos(longitudes)).sum())
    y = float((np.cos(latitudes) * np.sin(longitudes)).sum())
    z = float(np.sin(latitudes).sum())
    return Plane(
        float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x)))
    )
