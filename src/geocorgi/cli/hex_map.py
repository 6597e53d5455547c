"""A small map of cells for the terminal, north up: every character is one point of the ground."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from rich.text import Text

from geocorgi.tree import cells

SHADES = " ░▒▓█"
CHARACTER_ASPECT = 2.0  # characters are about twice as high as wide


def hex_map(shares: Mapping[str, float], marks: Mapping[str, str], width: int = 56) -> Text:
    """Return the cells drawn darker where their share is larger, with a letter on marked ones."""
    latitudes, longitudes = cells.centres(shares)
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
    drawing = Text()
    for row, latitude in enumerate(rows):
        for column in range(width):
            cell = cells.cell_at(float(latitude), float(west + column * step), resolution)
            shade = _shade(shares[cell] / largest) if cell in shares else " "
            drawing.append(letters.get((row, column), shade))
        drawing.append("\n")
    return drawing


def _shade(share: float) -> str:
    """Return darkness by the root of the share: most shares are small, and should be seen."""
    return SHADES[1 + int(math.sqrt(share) * (len(SHADES) - 2))]


def _character(cell: str, rows: np.ndarray, west: float, step: float) -> tuple[int, int]:
    latitude, longitude = cells.centre(cell)
    return int(np.abs(rows - latitude).argmin()), round((longitude - west) / step)
