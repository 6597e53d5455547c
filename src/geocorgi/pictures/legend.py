"""What signs mean: the key below a drawing, and the bar that shows its scale."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from geocorgi.pictures.canvas import MARGIN, Canvas
from geocorgi.pictures.drawing import Drawing
from geocorgi.pictures.ink import ACCENT, SHADE, dashes, line_width, opacity, percent
from geocorgi.tree import cells

LINE = 26.0
SWATCH = 64.0
STEPS = 5
LETTER = 6.6  # about the width of a letter of size 12


def legend(drawing: Drawing, canvas: Canvas) -> tuple[list[str], float]:
    """Return the key's parts, and where it ends."""
    down = canvas.bottom
    parts: list[str] = []
    if drawing.shares is not None:
        parts += _scale(drawing, down)
        down += 2 * LINE
    entries = _entries(drawing)
    across = MARGIN
    for symbol, said in entries:
        wide = 46 + LETTER * len(said) + 14
        if across > MARGIN and across + wide > canvas.width - MARGIN:
            across, down = MARGIN, down + LINE
        parts.append(
            f'<g transform="translate({across:.1f} {down:.1f})">{symbol}'
            f'<text x="40" y="15" font-size="12" fill="currentColor">{escape(said)}</text></g>'
        )
        across += wide
    return parts, down + (LINE if entries else 0) + (MARGIN / 2 if parts else 0)


def bar(canvas: Canvas) -> Iterator[str]:
    """Yield the bar of a round length in the upper right corner."""
    long = canvas.bar_km * canvas.pixels_per_km
    right, left = canvas.width - MARGIN, canvas.width - MARGIN - long
    said = f"{canvas.bar_km:,g} km" if canvas.bar_km >= 1 else f"{1000 * canvas.bar_km:,.4g} m"
    yield (
        f'<path d="M{left:.1f} 15V23H{right:.1f}V15" fill="none" stroke="currentColor" '
        f'stroke-width="1.5"/><text x="{(left + right) / 2:.1f}" y="18" font-size="12" '
        f'text-anchor="middle" fill="currentColor">{said}</text>'
    )


def _scale(drawing: Drawing, down: float) -> Iterator[str]:
    yield (
        f'<text x="{MARGIN}" y="{down + 12:.1f}" font-size="12" font-weight="600" '
        f'fill="currentColor">{escape(drawing.shares_are)}, in %</text>'
    )
    for step in range(STEPS):
        share = drawing.largest * (step / (STEPS - 1)) ** 2
        across = MARGIN + step * SWATCH
        yield (
            f'<rect class="shade" x="{across:.1f}" y="{down + 18:.1f}" width="{SWATCH}" '
            f'height="12" fill="{SHADE}" fill-opacity="{opacity(share, drawing.largest)}" '
            'stroke="currentColor" stroke-opacity="0.35"/>'
            f'<text x="{across + SWATCH / 2:.1f}" y="{down + 43:.1f}" font-size="12" '
            f'text-anchor="middle" fill="currentColor">{percent(share)}</text>'
        )


def _entries(drawing: Drawing) -> list[tuple[str, str]]:
    entries = []
    if drawing.crossed:
        box = 'x="2" y="3" width="30" height="15"'
        hatch = (
            f'<rect {box} fill="url(#hatch)"/><rect {box} fill="none" stroke="currentColor" '
            'stroke-opacity="0.5"/>'
        )
        entries.append((hatch, drawing.crossed_are))
    leaf = max(map(cells.resolution_of, drawing.cells))
    for resolution in sorted({cells.resolution_of(cell) for cell in drawing.outlined}):
        width = line_width(leaf - resolution)
        entries.append((_line(f'stroke-width="{width:.1f}"'), f"level {leaf - resolution}"))
    for circle in drawing.circles:
        ring = (
            f'<circle class="accent" cx="17" cy="10.5" r="9" fill="none" stroke="{ACCENT}" '
            f'stroke-width="2.4"{dashes("4 3") if circle.dashed else ""}/>'
        )
        entries.append((ring, circle.label))
    return entries


def _line(style: str) -> str:
    return f'<path d="M2 11H32" stroke="currentColor" {style}/>'
