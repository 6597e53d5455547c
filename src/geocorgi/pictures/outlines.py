"""The line around the shown cells that are below one coarser cell.

H3's own outline of a coarse cell overhangs and cuts its descendants (docs/known-gaps.md). What
counts is who belongs to whom by identifier, so that is what is drawn: every side of a shown cell
that no other cell below the same coarse one shares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from geocorgi.pictures.plane import Floats, Plane
from geocorgi.tree import cells

SAME = 0.05  # of a side: two sides whose middles are nearer than that are one


def outlines(
    shown: Sequence[str], outlined: Sequence[str], plane: Plane
) -> dict[int, list[Floats]]:
    """Return, for each resolution of the outlined cells, the sides to draw: pairs of points, km."""
    wanted = defaultdict(set)
    for cell in outlined:
        wanted[cells.resolution_of(cell)].add(cell)
    sides = _Sides(shown, plane)
    return {
        resolution: sides.around(resolution, among) for resolution, among in sorted(wanted.items())
    }


class _Sides:
    """Every side of every shown cell, and which of them lie on one another."""

    def __init__(self, shown: Sequence[str], plane: Plane) -> None:
        ends, self.owners = [], []
        for cell in shown:
            corners = plane.km(cells.boundary(cell))
            ends.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
            self.owners += [cell] * len(corners)
        self.ends = np.concatenate(ends)
        length = np.linalg.norm(self.ends[:, 0] - self.ends[:, 1], axis=1)
        self.partner = _partners(self.ends.mean(axis=1) / (SAME * float(np.median(length))))

    def around(self, resolution: int, among: set[str]) -> list[Floats]:
        """Return the sides between a cell below one of these and whatever is not below it."""
        above = [
            cells.ancestor(cell, resolution) if cells.resolution_of(cell) >= resolution else ""
            for cell in self.owners
        ]
        return [
            self.ends[side]
            for side, coarse in enumerate(above)
            if coarse in among and (self.partner[side] < 0 or above[self.partner[side]] != coarse)
        ]


def _partners(middles: Floats) -> NDArray[np.intp]:
    """Return for each side the other one with the same middle, -1 for none.

    Two grids, half a step apart: what rounding tears apart in one of them lies together in the
    other.
    """
    partner = np.full(len(middles), -1)
    for offset in (0.0, 0.5):
        seen: dict[tuple[float, float], int] = {}
        for side, (across, up) in enumerate(np.floor(middles + offset).tolist()):
            other = seen.setdefault((across, up), side)
            if other != side:
                partner[side], partner[other] = other, side
    return partner
