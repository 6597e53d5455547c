"""The leaf that each check-in is in, by its position among the leaves of one or several trees.

The leaf of a point is the H3 cell of the leaves' resolution that contains it, never found by way
of a coarser cell. Points that cannot be in any leaf are told by a box first, because that is cheap;
the box only ever lets through too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.checkins.leaf_box import LeafBox, box_around
from geocorgi.checkins.polars_door import pl
from geocorgi.errors import InvalidCell
from geocorgi.tree.cells import cells_at, require_cell, resolution_of

OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class LeafPlaces:
    """Leaves with their positions, and a box around them all."""

    positions: dict[str, int]
    resolution: int
    box: LeafBox

    def of(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """Return the position of each row's leaf, ``OUTSIDE`` for a point in none."""
        near = frame.select(_near(self.box)).to_series().to_numpy()
        points = frame.select("latitude", "longitude").filter(pl.Series(near))
        latitudes, longitudes = (points[name].to_numpy() for name in points.columns)
        found = cells_at(latitudes, longitudes, self.resolution)
        places = np.full(len(frame), OUTSIDE, dtype=np.int64)
        places[near] = np.fromiter(
            (self.positions.get(cell, OUTSIDE) for cell in found), np.int64, len(found)
        )
        return places


def leaf_places(leaves: Sequence[str]) -> LeafPlaces:
    """Return the positions of the leaves, or refuse what are no leaves."""
    cells = [require_cell(leaf) for leaf in leaves]
    positions = {cell: place for place, cell in enumerate(cells)}
    resolutions = {resolution_of(cell) for cell in cells}
    if len(resolutions) != 1 or len(positions) != len(cells):
        raise InvalidCell("leaves are one or more different cells, all of one resolution")
    return LeafPlaces(positions, resolutions.pop(), box_around(cells))


def _near(box: LeafBox) -> pl.Expr:
    # The difference of two longitudes the short way round; -180 and 180 are one meridian.
    away = ((pl.col("longitude") - box.middle + 540.0) % 360.0 - 180.0).abs()
    return pl.col("latitude").is_between(box.south, box.north) & (away <= box.half_width)
