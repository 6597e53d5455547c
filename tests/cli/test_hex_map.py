"""Cells drawn with letters."""

from __future__ import annotations

from geocorgi.cli import hex_map
from geocorgi.tree.location_tree import LocationTree

SUBTREE = LocationTree("872830828ffffff", 2)


def test_the_map_shows_every_cell_and_its_marks() -> None:
    leaves = SUBTREE.leaves
    shares = {leaf: 1.0 if leaf == leaves[0] else 0.01 for leaf in leaves}
    drawn = hex_map.hex_map(shares, {leaves[0]: "U", leaves[5]: "R"}).plain
    assert drawn.count("U") == drawn.count("R") == 1
    assert {"░", "█"} <= set(drawn)
