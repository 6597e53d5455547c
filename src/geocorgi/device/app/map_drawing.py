"""The map as SVG that can be clicked, walked with the keyboard and read aloud.

It is drawn from the tree's own geometry. Each cell is a button with a spoken name; where it lies is
in ``data-x`` and ``data-y``, by which the page's script moves from one to the next. Shares are told
by how opaque one shade is, and what is never reported is hatched: no meaning hangs on a hue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from geocorgi.device.app.backdrop import Tile
from geocorgi.pictures.drawing import Circle, Drawing
from geocorgi.pictures.ink import line_width, opacity
from geocorgi.pictures.outlines import outlines
from geocorgi.pictures.plane import Floats, Plane, plane_around
from geocorgi.tree import cells

WIDTH = 600.0
MARGIN = 10.0
SIGNS = {"you": "●", "home": "⌂", "office": "▣", "sent": "★"}
HATCH = (
    '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path d="M0 0V7" class="hatch"/></pattern></defs>'
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Kilometres on the ground to units of the drawing, north up."""

    plane: Plane
    west_km: float
    north_km: float
    units_per_km: float
    height: float

    def at(self, points: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> Floats:
        """Return where points in degrees lie."""
        return self.placed(self.plane.km(points))

    def placed(self, km: Floats) -> Floats:
        """Return where points in kilometres of the plane lie."""
        across = MARGIN + (km[:, 0] - self.west_km) * self.units_per_km
        down = MARGIN + (self.north_km - km[:, 1]) * self.units_per_km
        return np.stack([across, down], axis=1)


def sheet_for(shown: tuple[str, ...]) -> Sheet:
    """Return the sheet on which these cells fill the width."""
    plane = plane_around(shown)
    corners = np.concatenate([plane.km(cells.boundary(cell)) for cell in shown])
    low, high = corners.min(axis=0), corners.max(axis=0)
    scale = (WIDTH - 2 * MARGIN) / max(float(high[0] - low[0]), 1e-9)
    height = 2 * MARGIN + scale * float(high[1] - low[1])
    return Sheet(plane, float(low[0]), float(high[1]), scale, height)


def map_svg(
    drawing: Drawing, spoken: Mapping[str, str], first: str, tiles: tuple[Tile, ...] = ()
) -> str:
    """Return the map; ``first`` is the cell that the keyboard comes to."""
    sheet = sheet_for(drawing.cells)
    title = escape(f"{drawing.title}. {drawing.caption}")
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {sheet.height:.0f}" '
            f'class="map" role="application" aria-roledescription="map" aria-label="{title}">',
            HATCH,
            *(_tile(tile, sheet) for tile in tiles),
            *_cells(drawing, spoken, first, sheet),
            *_outlines(drawing, sheet),
            *(_circle(circle, sheet) for circle in drawing.circles),
            *_marks(drawing, sheet),
            _bar(sheet),
            "</svg>",
        ]
    )


def _tile(tile: Tile, sheet: Sheet) -> str:
    (west, north), (east, south) = sheet.at([tile.north_west, tile.south_east])
    return (
        f'<image href="{escape(tile.href)}" x="{west:.1f}" y="{north:.1f}" '
        f'width="{east - west + 0.3:.1f}" height="{south - north + 0.3:.1f}" '
        'preserveAspectRatio="none" class="tile"/>'
    )


def _cells(drawing: Drawing, spoken: Mapping[str, str], first: str, sheet: Sheet) -> Iterator[str]:
    for cell in drawing.cells:
        path = _path(sheet.at(cells.boundary(cell)))
        across, down = sheet.at([cells.centre(cell)])[0]
        share = None if drawing.shares is None else drawing.shares.get(cell, 0.0)
        name = escape(spoken.get(cell, cell))
        yield (
            f'<path class="cell" d="{path}" fill-opacity="{opacity(share, drawing.largest)}" '
            f'role="button" tabindex="{0 if cell == first else -1}" aria-label="{name}" '
            f'data-cell="{cell}" data-x="{across:.0f}" data-y="{down:.0f}">'
            f"<title>{name}</title></path>"
        )
        if cell in drawing.crossed:
            yield f'<path d="{path}" fill="url(#hatch)" class="over"/>'


def _outlines(drawing: Drawing, sheet: Sheet) -> Iterator[str]:
    finest = max(map(cells.resolution_of, drawing.cells))
    for resolution, sides in outlines(drawing.cells, drawing.outlined, sheet.plane).items():
        path = "".join(_path(sheet.placed(side), closed=False) for side in sides)
        width = line_width(finest - resolution)
        yield f'<path d="{path}" class="line over" stroke-width="{width:.1f}"/>'


def _circle(circle: Circle, sheet: Sheet) -> str:
    across, down = sheet.at([circle.centre])[0]
    dashed = " dashed" if circle.dashed else ""
    return (
        f'<circle class="circle over{dashed}" cx="{across:.1f}" cy="{down:.1f}" '
        f'r="{circle.radius_km * sheet.units_per_km:.1f}"/>'
    )


def _marks(drawing: Drawing, sheet: Sheet) -> Iterator[str]:
    """Yield the marked cells, then their signs, which lie within them and hide no neighbour."""
    signs = []
    for cell, mark in drawing.marked.items():
        yield f'<path d="{_path(sheet.at(cells.boundary(cell)))}" class="mark over"/>'
        across, down = sheet.at([cells.centre(cell)])[0]
        signs.append(
            f'<text class="word sign over" x="{across:.1f}" y="{down:.1f}" dy="0.35em" '
            f'text-anchor="middle">{signs_of(mark)}</text>'
        )
    yield from signs


def signs_of(mark: str) -> str:
    """Return the signs of the words of a mark."""
    return "".join(SIGNS.get(word, escape(word)) for word in mark.split(", "))


def _bar(sheet: Sheet) -> str:
    most = WIDTH / 5 / sheet.units_per_km
    power = 10.0 ** np.floor(np.log10(most))
    length_km = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most)
    right, down = WIDTH - MARGIN, sheet.height - MARGIN
    left = right - length_km * sheet.units_per_km
    said = f"{length_km:g} km" if length_km >= 1 else f"{1000 * length_km:g} m"
    return (
        f'<path class="bar over" d="M{left:.1f} {down - 7:.1f}V{down:.1f}H{right:.1f}'
        f'V{down - 7:.1f}"/><text class="word over" x="{(left + right) / 2:.1f}" '
        f'y="{down - 10:.1f}" text-anchor="middle">{said}</text>'
    )


def _path(points: Floats, *, closed: bool = True) -> str:
    line = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
    return line + "Z" if closed else line
