"""A small map of cells for the terminal, north up: every character is one point of the ground.

Rows are parallels and columns meridians, so it is for small areas away from the poles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree

FloatOrMany = TypeVar("FloatOrMany", float, NDArray[np.float64])
SHADES = " ░▒▓█"
NEAREST_TO_A_POLE = 85.0  # in degrees
TOLD_APART = (0.05, 0.2, 0.5)  # a shade each, by its root
CHARACTER_ASPECT = 2.0  # characters are about twice as high as wide


def hex_map(shares: Mapping[str, float], marks: Mapping[str, str], width: int = 56) -> Text:
    """Return the cells drawn darker where their share is larger, with a letter on marked ones."""
    latitudes, longitudes = cells.centres(shares)
    longitudes = _eastward(longitudes, longitudes[0])
    resolution = cells.resolution_of(next(iter(shares)))
    spacing = cells.average_spacing_km(resolution) / 111.2  # in degrees of latitude
    squeeze = math.cos(math.radians(float(latitudes.mean())))
    west, east = longitudes.min() - spacing / squeeze, longitudes.max() + spacing / squeeze
    step = (east - west) / width
    rows = np.arange(
        latitudes.max() + spacing, latitudes.min() - spacing, -step * squeeze * CHARACTER_ASPECT
    )
    letters = {_character(cell, rows, west, step): mark for cell, mark in marks.items()}
    largest = max(shares.values()) or 1.0
    lines = []
    for row, latitude in enumerate(rows):
        line = Text()
        for column in range(width):
            longitude = float(_eastward(west + column * step, 0.0))
            cell = cells.cell_at(float(latitude), longitude, resolution)
            shade = _shade(shares[cell] / largest) if cell in shares else " "
            line.append(letters.get((row, column), shade))
        if line.plain.strip():
            lines.append(line)
    return Text("\n").join(lines)


def tree_map(tree: LocationTree, width: int = 56) -> Text:
    """Return a tree's leaves, those below one cell of level 1 (or of the root) in one shade."""
    level = min(1, tree.height - 1) if tree.height > 1 else 0
    shades = _told_apart(tree.nodes(level))
    shares = {leaf: shades[tree.ancestor(leaf, level)] for leaf in tree.leaves}
    return hex_map(shares, {}, width)


def can_be_mapped(tree: LocationTree, most: int = 343) -> bool:
    """Return whether a terminal has room for the tree, and parallels and meridians cross there."""
    return tree.count(0) <= most and abs(cells.centre(tree.root)[0]) < NEAREST_TO_A_POLE


def _told_apart(some_cells: Sequence[str]) -> dict[str, float]:
    """Return shares whose shades differ between cells that touch, as far as three shades go."""
    found: dict[str, float] = {}
    for cell in some_cells:
        taken = [found[other] for other in cells.neighbours(cell) if other in found]
        found[cell] = min(TOLD_APART, key=taken.count)
    return found


def _shade(share: float) -> str:
    """Return darkness by the root of the share: most shares are small, and should be seen."""
    return SHADES[1 + int(math.sqrt(share) * (len(SHADES) - 2))]


def _character(cell: str, rows: np.ndarray, west: float, step: float) -> tuple[int, int]:
    latitude, longitude = cells.centre(cell)
    across = float(_eastward(longitude, west + 180.0)) - west
    return int(np.abs(rows - latitude).argmin()), round(across / step)


def _eastward(longitude: FloatOrMany, middle: float) -> FloatOrMany:
    """Return the longitude as it is counted within half a turn of the middle."""
    return middle + (longitude - middle + 180.0) % 360.0 - 180.0
