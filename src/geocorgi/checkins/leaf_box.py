"""A box on the globe that certainly contains all of some cells.

The box circumscribes a cap: the smallest circle around the mean of the cells' corners that holds
every corner. Edges of H3 cells are arcs of great circles, and a cap smaller than a hemisphere
contains the arc between any two of its points, so it contains the cells whole. A cap of a
hemisphere or more gets a box that is the globe. A hundredth of the radius is added, more than
rounding could need: a box too large costs time, a box too small would lose check-ins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.tree.cells import boundary

MARGIN = 1.01


@dataclass(frozen=True, slots=True)
class LeafBox:
    """Latitudes from south to north, and longitudes within a half width of the middle."""

    south: float
    north: float
    middle: float
    half_width: float


GLOBE = LeafBox(-90.0, 90.0, 0.0, 180.0)


def box_around(cells: Iterable[str]) -> LeafBox:
    """Return a box that contains every one of the cells, whole."""
    corners = _on_sphere(np.radians([corner for cell in cells for corner in boundary(cell)]))
    mean = corners.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if length < 1e-6:  # no direction to speak of: the corners surround the globe
        return GLOBE
    centre = mean / length
    # The chord says the angle accurately where the cosine, near 1, would not.
    chord = float(np.linalg.norm(corners - centre, axis=1).max())
    radius = 2 * math.asin(min(1.0, chord / 2)) * MARGIN
    if radius >= math.pi / 2:
        return GLOBE
    latitude = math.asin(max(-1.0, min(1.0, centre[2])))
    south, north = latitude - radius, latitude + radius
    if south <= -math.pi / 2 or north >= math.pi / 2:  # a pole inside: every longitude
        return LeafBox(max(-90.0, math.degrees(south)), min(90.0, math.degrees(north)), 0.0, 180.0)
    half_width = math.asin(min(1.0, math.sin(radius) / math.cos(latitude)))
    middle = math.atan2(centre[1], centre[0])
    return LeafBox(*(math.degrees(angle) for angle in (south, north, middle, half_width * MARGIN)))


def _on_sphere(points: NDArray[np.float64]) -> NDArray[np.float64]:
    latitudes, longitudes = points[:, 0], points[:, 1]
    across = np.cos(latitudes)
    return np.stack(
        [across * np.cos(longitudes), across * np.sin(longitudes), np.sin(latitudes)], axis=1
    )
