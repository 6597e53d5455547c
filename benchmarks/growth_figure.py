"""The figure of docs/benchmarks.md: seconds against K, both logarithmic, as a small SVG.

Written by hand rather than by a plotting library; it reads on light and on dark pages.
"""

from __future__ import annotations

import math
from typing import Any

Json = dict[str, Any]

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 110, 24, 52
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #444; }
.axis { stroke: #888; } .grid { stroke: #888; stroke-opacity: 0.25; }
.fit { fill: none; stroke-width: 1.5; stroke-dasharray: 5 4; opacity: 0.7; }
.a { stroke: #1f6fc4; } .a.dot, text.a { fill: #1f6fc4; stroke: none; }
.b { stroke: #c2590c; } .b.dot, text.b { fill: #c2590c; stroke: none; }
.line { fill: none; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #ccc; }
  .a { stroke: #6cb1ff; } .a.dot, text.a { fill: #6cb1ff; stroke: none; }
  .b { stroke: #ff9d5c; } .b.dot, text.b { fill: #ff9d5c; stroke: none; }
}
"""


class Axes:
    """Where a number of cells and a number of seconds stand in the figure."""

    def __init__(self, points: list[tuple[float, float]]) -> None:
        self.decades = (
            math.floor(math.log10(min(y for _, y in points))),
            math.ceil(math.log10(max(y for _, y in points))),
        )

    def x(self, cells: float) -> float:
        """Return how far from the left."""
        share = (math.log(cells) - math.log(5)) / (math.log(3400) - math.log(5))
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, taken: float) -> float:
        """Return how far from the top."""
        low, high = self.decades
        share = (math.log10(taken) - low) / (high - low)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


def figure(rows: list[Json], fits: list[Json]) -> str:
    """Draw seconds against K; both axes are logarithmic."""
    series = {
        fit["epsilon_per_km"]: [
            (x["cells"], x["seconds"])
            for x in rows
            if x["prior"] == "uniform" and x["epsilon_per_km"] == fit["epsilon_per_km"]
        ]
        for fit in fits
    }
    drawn = [
        point
        for fit in fits
        for points in [series[fit["epsilon_per_km"]]]
        for point in points + fitted(points, fit["exponents"]["seconds"]["all"])
    ]
    axes = Axes(drawn)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Seconds from cells to an audited, provably optimal matrix, against K</title>",
        f"<style>{STYLE}</style>",
        *_frame(axes),
    ]
    labels = _apart([axes.y(points[-1][1]) for points in series.values()])
    for kind, fit, at in zip("ab", fits, labels, strict=False):
        points = series[fit["epsilon_per_km"]]
        parts += _curve(axes, kind, points, fit["exponents"]["seconds"]["all"])
        x, power = axes.x(points[-1][0]) + 12, fit["exponents"]["seconds"]["all"]
        parts.append(
            f'<text class="{kind}" x="{x:.0f}" y="{at + 4:.0f}">eps {fit["epsilon_per_km"]:g}'
            f'<tspan x="{x:.0f}" dy="15">~ K^{power:.2f}</tspan></text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _apart(places: list[float]) -> list[float]:
    """Move the labels of two lines so far apart that both can be read."""
    if len(places) == 2 and abs(places[0] - places[1]) < 34:
        middle, up = sum(places) / 2, 17 if places[0] <= places[1] else -17
        return [middle - up, middle + up]
    return places


def _frame(axes: Axes) -> list[str]:
    low, high = axes.decades
    foot, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for decade in range(low, high + 1):
        y = axes.y(10.0**decade)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{end}" y2="{y:.1f}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**decade:g}</text>'
        )
    for cells in (7, 49, 343, 2401):
        x = axes.x(cells)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{foot}"/>')
        parts.append(f'<text x="{x:.1f}" y="{foot + 18}" text-anchor="middle">{cells:,}</text>')
    middle = (LEFT + end) / 2
    return [
        *parts,
        f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{foot}H{end}"/>',
        f'<text x="{middle:.0f}" y="{HEIGHT - 12}" text-anchor="middle">K (cells)</text>',
        f'<text x="{LEFT - 8}" y="{TOP - 10}" text-anchor="end">seconds</text>',
    ]


def _curve(axes: Axes, kind: str, points: list[tuple[float, float]], exponent: float) -> list[str]:
    places = [(axes.x(cells), axes.y(taken)) for cells, taken in points]
    ends = [(axes.x(cells), axes.y(taken)) for cells, taken in fitted(points, exponent)]
    return [
        f'<path class="fit {kind}" d="M{_path(ends)}"/>',
        f'<path class="line {kind}" d="M{_path(places)}"/>',
        *(f'<circle class="{kind} dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places),
    ]


def fitted(points: list[tuple[float, float]], exponent: float) -> list[tuple[float, float]]:
    """Return the two ends of the fitted line; it goes through the means of the logarithms."""
    mean_x = sum(math.log(cells) for cells, _ in points) / len(points)
    mean_y = sum(math.log(taken) for _, taken in points) / len(points)
    return [
        (cells, math.exp(mean_y + exponent * (math.log(cells) - mean_x)))
        for cells in (points[0][0], points[-1][0])
    ]


def _path(places: list[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
