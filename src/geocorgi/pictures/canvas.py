"""Where on the sheet a piece of ground lies: kilometres to pixels, north up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geocorgi.pictures.drawing import Drawing
from geocorgi.pictures.plane import Floats, Plane, plane_around
from geocorgi.tree import cells

MARGIN = 16.0
HEADING = 62.0


@dataclass(frozen=True, slots=True)
class Canvas:
    """A sheet of a width, and how high it has to be for the ground."""

    plane: Plane
    west_km: float
    north_km: float
    pixels_per_km: float
    width: int
    bottom: float

    def at(self, points: Sequence[tuple[float, float]]) -> Floats:
        """Return the pixels of points in degrees, as rows of across and down."""
        return self.pixels(self.plane.km(points))

    def pixels(self, km: Floats) -> Floats:
        """Return the pixels of points in kilometres east and north of the plane's middle."""
        across = MARGIN + (km[:, 0] - self.west_km) * self.pixels_per_km
        down = HEADING + (self.north_km - km[:, 1]) * self.pixels_per_km
        return np.stack([across, down], axis=1)

    @property
    def bar_km(self) -> float:
        """A round length, a fifth of the sheet at most, for the bar that shows the scale."""
        most = self.width / 5 / self.pixels_per_km
        power = 10.0 ** math.floor(math.log10(most))
        return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most)


def canvas_for(drawing: Drawing, width: int) -> Canvas:
    """Return a sheet on which all that is drawn lies inside the margins."""
    plane = plane_around(drawing.cells)
    reach = [plane.km(cells.boundary(cell)) for cell in drawing.cells]
    for circle in drawing.circles:
        middle = plane.km([circle.centre])
        reach += [middle - circle.radius_km, middle + circle.radius_km]
    corners = np.concatenate(reach)
    low, high = corners.min(axis=0), corners.max(axis=0)
    scale = (width - 2 * MARGIN) / max(float(high[0] - low[0]), 1e-9)
    bottom = HEADING + scale * float(high[1] - low[1]) + MARGIN
    return Canvas(plane, float(low[0]), float(high[1]), scale, width, bottom)
