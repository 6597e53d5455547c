"""Figures are the same bytes for the same numbers, and tell lines apart without colours."""

from __future__ import annotations

import math

from geocorgi.lab.chart import COLOURS, DASHES, MARKERS, Panel, Series, svg

PANELS = [
    Panel("one", "x", "y", [Series("a", [1, 2, 3], [1.0, math.inf, 2.0]), Series("b", [1], [2.0])]),
    Panel("two", "x", "y", [Series("c", [1, 10], [0.1, 10.0])], log_x=True, log_y=True),
]


def test_equal_numbers_make_equal_bytes():
    assert svg(PANELS, "caption") == svg(PANELS, "caption")
    assert b"caption" in svg(PANELS, "caption")
    assert b"<dc:date>" not in svg(PANELS, "caption")


def test_lines_differ_in_more_than_colour():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(DASHES) == len(COLOURS)
