"""The demonstration says what it does, and what it says is true."""

from __future__ import annotations

import re

import pytest

from geocorgi.cli import demo, hex_map
from geocorgi.tree.location_tree import LocationTree

SUBTREE = LocationTree("872830828ffffff", 2)


def test_the_demonstration_ends_with_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    said = " ".join(capsys.readouterr().out.split())
    assert "27,908 check-ins" in said
    assert "holds from" in said
    assert "0 of 115,248 constraints violated" in said
    (reported,) = re.findall(r"R, the cell ([0-9a-f]{15})", said)
    assert reported.startswith("8928308")


def test_the_map_shows_every_cell_and_its_marks() -> None:
    leaves = SUBTREE.leaves
    shares = {leaf: 1.0 if leaf == leaves[0] else 0.01 for leaf in leaves}
    drawn = hex_map.hex_map(shares, {leaves[0]: "U", leaves[5]: "R"}).plain
    assert drawn.count("U") == drawn.count("R") == 1
    assert {"░", "█"} <= set(drawn)
