"""A drawing as SVG: geometry and words only, nothing from elsewhere, the same bytes every time.

How it looks, and why every kind of colour vision reads it, says :mod:`geocorgi.pictures.ink`. On a
sheet of its own it follows the reader's light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from geocorgi.pictures.canvas import HEADING, MARGIN, Canvas, canvas_for
from geocorgi.pictures.drawing import Circle, Drawing
from geocorgi.pictures.ink import (
    ACCENT,
    HATCH,
    INK,
    LIGHT_INK,
    PAPER,
    SHADE,
    STYLE,
    dashes,
    line_width,
    opacity,
    percent,
)
from geocorgi.pictures.legend import bar, legend
from geocorgi.pictures.outlines import outlines
from geocorgi.pictures.plane import Floats
from geocorgi.tree import cells

LARGEST_TEXT = 13


def svg(drawing: Drawing, width: int = 640, *, paper: str | None = PAPER) -> str:
    """Return the drawing as an SVG document; ``paper`` is the ground's colour, None for none."""
    canvas = canvas_for(drawing, width)
    key, height = legend(drawing, canvas)
    ink = f' class="sheet" color="{LIGHT_INK}"' if paper is not None else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" height="{height:.0f}" role="img"{ink} '
        'font-family="system-ui, sans-serif" '
        f'aria-label="{escape(f"{drawing.title}. {drawing.caption}")}">',
        STYLE,
        HATCH,
    ]
    if paper is not None:
        parts.append(f'<rect class="paper" width="{width}" height="{height:.0f}" fill="{paper}"/>')
    parts += _heading(drawing)
    parts += bar(canvas)
    parts += _cells(drawing, canvas)
    parts += _outlines(drawing, canvas)
    parts += [part for circle in drawing.circles for part in _circle(circle, canvas)]
    parts += _marks(drawing, canvas)
    return "\n".join([*parts, *key, "</svg>", ""])


def _heading(drawing: Drawing) -> Iterator[str]:
    yield f'<text x="{MARGIN}" y="26" font-size="17" font-weight="600" fill="{INK}">'
    yield f"{escape(drawing.title)}</text>"
    yield f'<text x="{MARGIN}" y="46" font-size="{LARGEST_TEXT}" fill="{INK}" fill-opacity="0.8">'
    yield f"{escape(drawing.caption)}</text>"


def _cells(drawing: Drawing, canvas: Canvas) -> Iterator[str]:
    for cell in drawing.cells:
        path = _path(canvas.at(cells.boundary(cell)))
        share = None if drawing.shares is None else drawing.shares.get(cell, 0.0)
        yield (
            f'<path class="shade" d="{path}" fill="{SHADE}" '
            f'fill-opacity="{opacity(share, drawing.largest)}" '
            f'stroke="{INK}" stroke-opacity="0.35" stroke-width="0.7">'
            f"<title>{escape(_tip(cell, share, drawing))}</title></path>"
        )
        if cell in drawing.crossed:
            yield f'<path d="{path}" fill="url(#hatch)" pointer-events="none"/>'


def _tip(cell: str, share: float | None, drawing: Drawing) -> str:
    said = [cell] + ([] if share is None else [f"{percent(share)} %"])
    reasons = [drawing.crossed[cell]] if cell in drawing.crossed else []
    return ", ".join(said + reasons)


def _outlines(drawing: Drawing, canvas: Canvas) -> Iterator[str]:
    """Yield the outlines of coarser cells, the heavier the coarser."""
    finest = max(map(cells.resolution_of, drawing.cells))
    for resolution, sides in outlines(drawing.cells, drawing.outlined, canvas.plane).items():
        path = "".join(_path(canvas.pixels(side), closed=False) for side in sides)
        yield (
            f'<path d="{path}" fill="none" stroke="{INK}" stroke-linecap="round" '
            f'stroke-width="{line_width(finest - resolution):.1f}" pointer-events="none"/>'
        )


def _circle(circle: Circle, canvas: Canvas) -> Iterator[str]:
    across, down = canvas.at([circle.centre])[0]
    radius = circle.radius_km * canvas.pixels_per_km
    yield (
        f'<circle class="accent" cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}" fill="none" '
        f'stroke="{ACCENT}" stroke-width="2.6"{dashes("8 6") if circle.dashed else ""}>'
        f"<title>{escape(circle.label)}</title></circle>"
    )


def _marks(drawing: Drawing, canvas: Canvas) -> Iterator[str]:
    for cell, mark in drawing.marked.items():
        path = _path(canvas.at(cells.boundary(cell)))
        yield (
            f'<path class="accent" d="{path}" fill="none" stroke="{ACCENT}" stroke-width="3" '
            'stroke-linejoin="round" pointer-events="none"/>'
        )
        across, down = canvas.at([cells.centre(cell)])[0]
        yield from _word(mark, across, max(down + LARGEST_TEXT / 3, HEADING))


def _word(word: str, across: float, down: float) -> Iterator[str]:
    """Yield a word with a seam of the ground's colour, so that it can be read on any shade."""
    yield (
        f'<text class="word" x="{across:.1f}" y="{down:.1f}" font-size="{LARGEST_TEXT}" '
        'font-weight="600" text-anchor="middle" '
        f'fill="{LIGHT_INK}" stroke="{PAPER}" stroke-width="3" '
        f'paint-order="stroke">{escape(word)}</text>'
    )


def _path(points: Sequence[Floats] | Floats, *, closed: bool = True) -> str:
    line = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
    return line + "Z" if closed else line
