"""The graph: twelve edges a cell, and shortest paths over them."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.tree import cells, distances
from geocorgi.tree.hex_graph import diagonals, hex_graph, hops
from geocorgi.tree.location_tree import LocationTree

LEAVES = LocationTree("862830827ffffff", 3).leaves
CELL = LEAVES[171]


def test_a_cell_has_six_diagonals_a_root_of_three_away():
    spacing = distances.between_cells((CELL, *cells.neighbours(CELL)))[0, 1:].mean()
    away = distances.between_cells((CELL, *diagonals(CELL)))[0, 1:]
    assert len(away) == 6
    np.testing.assert_allclose(away / spacing, np.sqrt(3), rtol=0.06)


def test_diagonals_are_neither_the_cell_nor_its_neighbours():
    assert not set(diagonals(CELL)) & {CELL, *cells.neighbours(CELL)}


def test_inner_cells_have_twelve_edges_and_none_has_more():
    joined = hex_graph(LEAVES)
    edges = joined.sum(axis=1)
    assert edges.max() == 12
    assert (edges == 12).sum() > 200


def test_edges_go_both_ways_and_never_to_oneself():
    joined = hex_graph(LEAVES)
    assert (joined == joined.T).all()
    assert not np.diagonal(joined).any()


def test_seven_cells_are_all_joined_but_for_the_three_opposite_pairs():
    joined = hex_graph(LocationTree("88283082a9fffff", 1).leaves)
    assert joined.sum() == 42 - 6
    assert hops(joined).max() == 2


def test_beside_a_pentagon_the_edges_still_go_both_ways():
    pentagon = LocationTree("820807fffffffff", 1).leaves[0]
    near = cells.neighbours(pentagon)
    around = tuple(
        dict.fromkeys([pentagon, *near, *(c for n in near for c in cells.neighbours(n))])
    )
    joined = hex_graph(around)
    assert (joined == joined.T).all()
    assert joined[0].sum() == len(near) + len(diagonals(pentagon))


def test_hops_are_the_shortest_paths():
    joined = hex_graph(LEAVES[:49])
    steps = hops(joined)
    relaxed = np.where(joined, 1.0, np.where(np.eye(49), 0.0, np.inf))
    for middle in range(49):
        relaxed = np.minimum(relaxed, relaxed[:, middle, None] + relaxed[middle])
    np.testing.assert_array_equal(steps, relaxed)


@pytest.mark.parametrize("size", [1, 2])
def test_what_no_path_joins_is_infinitely_far(size):
    steps = hops(np.zeros((size, size), dtype=np.bool_))
    assert np.isinf(steps[~np.eye(size, dtype=np.bool_)]).all()
    assert not np.diagonal(steps).any()
