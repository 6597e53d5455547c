"""The plane on which a made-up city is laid out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.tree.cells import boundary, centre


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The plane that touches the globe in the middle of a cell, 1 being the cell's radius.

    Unlike latitude and longitude it is the same at the equator, a pole and the antimeridian.
    """

    axes: NDArray[np.float64]  # east, north, up
    radius: float

    def flat(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Return where the point is on the plane."""
        east, north, up = self.axes @ _on_sphere(latitude, longitude)
        return float(east / up) / self.radius, float(north / up) / self.radius

    def round(self, x: float, y: float) -> tuple[float, float]:
        """Return latitude and longitude of a point on the plane."""
        east, north, up = self.axes.T @ np.array([x * self.radius, y * self.radius, 1.0])
        return (
            math.degrees(math.atan2(up, math.hypot(east, north))),
            math.degrees(math.atan2(north, east)),
        )


def plane_at(root: str) -> Plane:
    """Return the plane that touches the globe in the middle of ``root``."""
    up = _on_sphere(*centre(root))
    pole = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.999 else np.array([1.0, 0.0, 0.0])
    east = np.cross(pole, up)
    east /= np.linalg.norm(east)
    axes = np.stack([east, np.cross(up, east), up])
    corners = [axes @ _on_sphere(*corner) for corner in boundary(root)]
    return Plane(axes, max(math.hypot(x / z, y / z) for x, y, z in corners))


def _on_sphere(latitude: float, longitude: float) -> NDArray[np.float64]:
    lat, lng = math.radians(latitude), math.radians(longitude)
    return np.array([math.cos(lat) * math.cos(lng), math.cos(lat) * math.sin(lng), math.sin(lat)])
