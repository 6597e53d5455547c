"""The few rules of how things look: one shade, its strength, lines, words for shares.

Shares are shown by how opaque one colour is, so that the scale reads the same to every kind of
colour vision, on a light ground and on a dark one. What is struck out is hatched and what is
circled differs by its dashes: no meaning hangs on a hue.
"""

from __future__ import annotations

import math

INK = "currentColor"
SHADE = "#0b6e99"
ACCENT = "#b34700"
PAPER = "#ffffff"
LIGHT_INK = "#1a1a1a"
FAINTEST = 0.06
STYLE = (
    "<style>@media (prefers-color-scheme: dark) {"
    ".sheet { color: #e6e6e6 } .paper { fill: #14171a } .shade { fill: #57c1ee } "
    ".accent { stroke: #ffa75e } .word { fill: #ffffff; stroke: #14171a }}</style>"
)
HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path d="M0 0V6" stroke="currentColor" stroke-width="1.6" '
    'stroke-opacity="0.75"/></pattern></defs>'
)


def opacity(share: float | None, largest: float) -> str:
    """Return how opaque a share is: by its root, since most are small and should be seen."""
    if share is None:
        return "0.1"
    if share <= 0:
        return "0"
    return f"{FAINTEST + (1 - FAINTEST) * math.sqrt(share / largest):.3f}"


def line_width(levels_above: int) -> float:
    """Return how wide the outline of a coarser cell is."""
    return 0.6 + 0.9 * levels_above


def dashes(pattern: str) -> str:
    """Return the attribute that makes a line a dashed one."""
    return f' stroke-dasharray="{pattern}"'


def percent(share: float) -> str:
    """Return a share in per cent with two digits, and never as a power of ten."""
    hundredths = 100 * share
    if 0 < hundredths < 0.001:
        return "<0.001"
    return f"{hundredths:.0f}" if hundredths >= 10 else f"{float(f'{hundredths:.2g}'):g}"
