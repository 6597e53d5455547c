"""The lines around cells follow identifiers."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.pictures.outlines import outlines
from geocorgi.pictures.plane import plane_around
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree, tree_around

TREES = {
    "san francisco": LocationTree("872830828ffffff", 2),
    "antimeridian": tree_around(0.0, 180.0, 7, 9),
    "the pole": tree_around(90.0, 0.0, 7, 9),
    "a pentagon": LocationTree("870800000ffffff", 2),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
@pytest.mark.parametrize("level", [1, 2])
def test_a_side_is_drawn_where_its_neighbour_is_below_another_cell(tree, level):
    """The oracle asks H3 for neighbours and measures nothing."""
    resolution = tree.resolution(level)
    ours = {leaf: tree.ancestor(leaf, level) for leaf in tree.leaves}
    expected = sum(
        ours.get(neighbour) != ours[leaf]
        for leaf in tree.leaves
        for neighbour in cells.neighbours(leaf)
    )
    drawn = outlines(tree.leaves, tree.nodes(level), plane_around(tree.leaves))
    assert list(drawn) == [resolution]
    # Around a pentagon a side that crosses an edge of H3's icosahedron is drawn in two pieces.
    most = 1.2 * expected if any(map(cells.is_pentagon, tree.leaves)) else expected
    assert expected <= len(drawn[resolution]) <= most


def test_a_cell_that_is_not_outlined_gets_no_line():
    tree = TREES["san francisco"]
    (only,) = tree.nodes(1)[:1]
    (sides,) = outlines(tree.leaves, [only], plane_around(tree.leaves)).values()
    middle = plane_around(tree.leaves).km([cells.centre(only)])[0]
    away = [np.linalg.norm(side.mean(axis=0) - middle) for side in sides]
    assert len(sides) == 18
    assert max(away) < 2 * min(away)
