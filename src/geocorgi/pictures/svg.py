"""A drawing as SVG: geometry and words only, nothing from elsewhere, the same bytes every time.

Shares are shown by how opaque one colour is, so that the scale reads the same to every kind of
colour vision, on a light ground and on a dark one. What is crossed out is hatched and what is
circled differs by its dashes: no meaning hangs on a hue.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from geocorgi.pictures.drawing import Circle, Drawing
from geocorgi.pictures.plane import Floats, Plane, plane_around
from geocorgi.tree import cells

INK = "currentColor"
SHADE = "#0b6e99"
PAPER = "#ffffff"
FAINTEST = 0.06
MARGIN = 12.0
HEADING = 56.0
LEGEND = 34.0
LARGEST_TEXT = 13


def svg(drawing: Drawing, width: int = 640, *, paper: str | None = PAPER) -> str:
    """Return the drawing as an SVG document; ``paper`` is the ground's colour, None for none."""
    plane = plane_around(drawing.cells)
    canvas = _Canvas.around(drawing, plane, width)
    height = canvas.height + (LEGEND if drawing.shares is not None else 0)
    ink = ' color="#1a1a1a"' if paper is not None else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" height="{height:.0f}" role="img"{ink} '
        'font-family="system-ui, sans-serif" '
        f'aria-label="{escape(f"{drawing.title}. {drawing.caption}")}">',
        HATCH,
    ]
    if paper is not None:
        parts.append(f'<rect width="{width}" height="{height:.0f}" fill="{paper}"/>')
    parts += _heading(drawing)
    parts += _cells(drawing, plane, canvas)
    parts += _outlines(drawing, plane, canvas)
    parts += [part for circle in drawing.circles for part in _circle(circle, plane, canvas)]
    parts += _marks(drawing, plane, canvas)
    if drawing.shares is not None:
        parts += _legend(drawing.largest, canvas.height)
    return "\n".join([*parts, "</svg>", ""])


HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path d="M0 0V6" stroke="currentColor" stroke-width="1.6" '
    'stroke-opacity="0.75"/></pattern></defs>'
)


class _Canvas:
    """Kilometres to pixels, north up, everything that is drawn inside the margins."""

    def __init__(self, low: Floats, high: Floats, width: int) -> None:
        self._west, self._north = float(low[0]), float(high[1])
        self.scale = (width - 2 * MARGIN) / max(float(high[0] - low[0]), 1e-9)
        self.height = HEADING + self.scale * float(high[1] - low[1]) + MARGIN

    @classmethod
    def around(cls, drawing: Drawing, plane: Plane, width: int) -> _Canvas:
        reach = [plane.km(cells.boundary(cell)) for cell in (*drawing.cells, *drawing.outlined)]
        for circle in drawing.circles:
            middle = plane.km([circle.centre])
            reach += [middle - circle.radius_km, middle + circle.radius_km]
        corners = np.concatenate(reach)
        return cls(corners.min(axis=0), corners.max(axis=0), width)

    def at(self, km: Floats) -> Floats:
        across = MARGIN + (km[:, 0] - self._west) * self.scale
        down = HEADING + (self._north - km[:, 1]) * self.scale
        return np.stack([across, down], axis=1)


def _heading(drawing: Drawing) -> Iterator[str]:
    yield f'<text x="{MARGIN}" y="24" font-size="17" font-weight="600" fill="{INK}">'
    yield f"{escape(drawing.title)}</text>"
    yield f'<text x="{MARGIN}" y="44" font-size="{LARGEST_TEXT}" fill="{INK}" fill-opacity="0.8">'
    yield f"{escape(drawing.caption)}</text>"


def _cells(drawing: Drawing, plane: Plane, canvas: _Canvas) -> Iterator[str]:
    for cell in drawing.cells:
        path = _path(canvas.at(plane.km(cells.boundary(cell))))
        share = None if drawing.shares is None else drawing.shares.get(cell, 0.0)
        yield (
            f'<path d="{path}" fill="{SHADE}" fill-opacity="{_opacity(share, drawing.largest)}" '
            f'stroke="{INK}" stroke-opacity="0.35" stroke-width="0.7">'
            f"<title>{escape(_tip(cell, share, drawing))}</title></path>"
        )
        if cell in drawing.crossed:
            yield f'<path d="{path}" fill="url(#hatch)" pointer-events="none"/>'


def _opacity(share: float | None, largest: float) -> str:
    """Return how opaque a share is: by its root, since most are small and should be seen."""
    if share is None:
        return "0.1"
    return f"{FAINTEST + (1 - FAINTEST) * math.sqrt(max(share, 0.0) / largest):.3f}"


def _tip(cell: str, share: float | None, drawing: Drawing) -> str:
    said = [cell] + ([] if share is None else [f"{100 * share:.3g} %"])
    reasons = [drawing.crossed[cell]] if cell in drawing.crossed else []
    return ", ".join(said + reasons)


def _outlines(drawing: Drawing, plane: Plane, canvas: _Canvas) -> Iterator[str]:
    """Yield the outlines of coarser cells, the heavier the coarser."""
    finest = max(map(cells.resolution_of, drawing.outlined), default=0)
    for cell in drawing.outlined:
        path = _path(canvas.at(plane.km(cells.boundary(cell))))
        width = 1.2 + 0.9 * (finest - cells.resolution_of(cell))
        yield (
            f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="{width:.1f}" '
            'pointer-events="none"/>'
        )


def _circle(circle: Circle, plane: Plane, canvas: _Canvas) -> Iterator[str]:
    across, down = canvas.at(plane.km([circle.centre]))[0]
    radius = circle.radius_km * canvas.scale
    dashes = ' stroke-dasharray="7 5"' if circle.dashed else ""
    yield (
        f'<circle cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}" fill="none" stroke="{INK}" '
        f'stroke-width="2.2"{dashes}><title>{escape(circle.label)}</title></circle>'
    )
    top = down - radius - 6 if circle.dashed else down + radius - 8
    yield from _word(circle.label, across, max(top, HEADING + LARGEST_TEXT))


def _marks(drawing: Drawing, plane: Plane, canvas: _Canvas) -> Iterator[str]:
    for cell, mark in drawing.marked.items():
        across, down = canvas.at(plane.km([cells.centre(cell)]))[0]
        yield from _word(mark, across, down + LARGEST_TEXT / 3)


def _word(word: str, across: float, down: float) -> Iterator[str]:
    """Yield a word with a light seam, so that it can be read on any shade."""
    yield (
        f'<text x="{across:.1f}" y="{down:.1f}" font-size="{LARGEST_TEXT}" font-weight="600" '
        f'text-anchor="middle" fill="#1a1a1a" stroke="{PAPER}" stroke-width="3" '
        f'paint-order="stroke">{escape(word)}</text>'
    )


def _legend(largest: float, down: float) -> Iterator[str]:
    steps = [largest * (step / 4) ** 2 for step in range(5)]
    for at, share in enumerate(steps):
        across = MARGIN + at * 92
        yield (
            f'<rect x="{across}" y="{down + 6:.1f}" width="18" height="14" fill="{SHADE}" '
            f'fill-opacity="{_opacity(share, largest)}" stroke="{INK}" stroke-opacity="0.35"/>'
            f'<text x="{across + 24}" y="{down + 18:.1f}" font-size="12" fill="{INK}">'
            f"{100 * share:.2g} %</text>"
        )


def _path(points: Sequence[Floats] | Floats) -> str:
    return "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in points) + "Z"
