"""The door to Matplotlib: panels of lines as one SVG or PNG, the same bytes for the same numbers.

Colours are those of Okabe and Ito, which the colour-blind tell apart; markers and dashes differ
too, so that a figure survives a printer without colours.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from geocorgi.errors import MissingExtra

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ModuleNotFoundError as missing:  # pragma: no cover - tests have it
    raise MissingExtra("the laboratory draws with matplotlib: pip install 'geocorgi[lab]'") from (
        missing
    )

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")
SETTINGS: Any = {
    "svg.hashsalt": "geocorgi",
    "svg.fonttype": "none",  # letters stay letters: small files that can be searched
    "font.family": "sans-serif",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "path.simplify": True,
}
PANEL_WIDTH, PANEL_HEIGHT = 3.7, 2.9
PANELS_A_ROW = 2
PIXELS_AN_INCH = 150


@dataclass(frozen=True, slots=True)
class Series:
    """One line: its name and its points; points that are not finite are left out."""

    label: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False


def svg(panels: Sequence[Panel], caption: str) -> bytes:
    """Draw the panels, two a row, over a caption; without a date, so that bytes compare."""
    return _drawn(panels, caption, format="svg", metadata={"Date": None, "Creator": None})


def png(panels: Sequence[Panel], caption: str) -> bytes:
    """Draw the same as pixels."""
    return _drawn(panels, caption, format="png", dpi=PIXELS_AN_INCH, metadata={"Software": None})


def _drawn(panels: Sequence[Panel], caption: str, **saving: Any) -> bytes:
    columns = min(PANELS_A_ROW, len(panels))
    rows = math.ceil(len(panels) / columns)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(PANEL_WIDTH * columns, PANEL_HEIGHT * rows + 0.35))
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _draw(axes, panel)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        figure.text(0.01, 0.008, caption, fontsize=6.5, color="#555555")
        figure.tight_layout(rect=(0, 0.035, 1, 1))
        out = io.BytesIO()
        figure.savefig(out, **saving)
    return out.getvalue()


def _draw(axes: Axes, panel: Panel) -> None:
    for at, series in enumerate(panel.series):
        points = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if math.isfinite(x + y)]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            label=series.label,
            color=COLOURS[at % len(COLOURS)],
            marker=MARKERS[at % len(MARKERS)],
            linestyle=DASHES[at % len(DASHES)],
            markersize=3.5,
            linewidth=1.3,
        )
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    axes.grid(visible=True, alpha=0.25, linewidth=0.5)
    axes.legend(fontsize=6.5, framealpha=0.6)
