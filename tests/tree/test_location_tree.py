"""Def. 3.1: the children of a node partition its leaves, at every level, all over the globe."""

import itertools
import math
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidCell, InvalidInput, InvalidTree, OutsideTree
from geocorgi.tree import cells
from geocorgi.tree.location_tree import MOST_LEAVES, LocationTree, tree_around

SF = "86283082fffffff"
PENTAGON = "8009fffffffffff"
SMALL = LocationTree(SF, 2)  # 7 subtrees of 7 leaves
PENTAGONS = [f"80{n:02x}fffffffffff" for n in range(1, 244, 2)]
PENTAGONS = [cell for cell in PENTAGONS if cells.is_pentagon(cell)]
latitudes = st.one_of(st.floats(-90, 90), st.floats(89.9, 90), st.floats(-90, -89.9))
longitudes = st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, 180.0]))


@st.composite
def trees(draw: st.DrawFn) -> LocationTree:
    """Trees of at most 343 leaves anywhere, one in three of them rooted at a pentagon."""
    height = draw(st.integers(0, 3))
    resolution = draw(st.integers(0, 15 - height))
    if draw(st.integers(0, 2)) == 0:
        base = draw(st.sampled_from(PENTAGONS))
        return LocationTree(cells.cell_at(*cells.centre(base), resolution), height)
    return LocationTree(cells.cell_at(draw(latitudes), draw(longitudes), resolution), height)


def test_there_are_twelve_pentagons() -> None:
    assert len(PENTAGONS) == 12


@given(trees())
@example(LocationTree(PENTAGON, 3))
@settings(max_examples=60, deadline=None)
def test_the_leaves_of_the_children_partition_the_leaves_of_their_parent(
    tree: LocationTree,
) -> None:
    for level in range(tree.height, 0, -1):
        for node in tree.nodes(level):
            parts = [tree.subtree(child).leaves for child in tree.children(node)]
            assert tuple(itertools.chain.from_iterable(parts)) == tree.subtree(node).leaves
            assert len(set(itertools.chain.from_iterable(parts))) == sum(map(len, parts))


@given(trees())
@settings(max_examples=60, deadline=None)
def test_every_level_is_a_partition_of_the_leaves(tree: LocationTree) -> None:
    for level in range(tree.height + 1):
        subtrees = tree.subtrees(level)
        assert [subtree.root for subtree in subtrees] == list(tree.nodes(level))
        assert {subtree.leaf_resolution for subtree in subtrees} == {tree.leaf_resolution}
        joined = [leaf for subtree in subtrees for leaf in subtree.leaves]
        assert tuple(joined) == tree.leaves  # contiguous runs, in order


@given(trees())
@settings(max_examples=60, deadline=None)
def test_leaves_come_in_ascending_order_which_is_that_of_a_depth_first_walk(
    tree: LocationTree,
) -> None:
    walk = list(tree.depth_first())
    met = [cell for cell in walk if tree.level_of(cell) == 0]
    assert tuple(met) == tree.leaves == tuple(sorted(tree.leaves))
    for at, cell in enumerate(walk):  # each node directly before all that descends from it
        below = tree.subtree(cell)
        size = sum(below.count(level) for level in range(below.height + 1))
        assert set(walk[at : at + size]) == set(below.breadth_first())


@given(trees())
@settings(max_examples=60, deadline=None)
def test_the_breadth_first_walk_meets_all_of_a_level_before_the_next(tree: LocationTree) -> None:
    walk = list(tree.breadth_first())
    levels = [tree.level_of(cell) for cell in walk]
    assert levels == sorted(levels, reverse=True)
    assert sorted(walk) == sorted(tree.depth_first())
    assert [levels.count(n) for n in range(tree.height + 1)] == [
        tree.count(n) for n in range(tree.height + 1)
    ]


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_ancestor_level_and_membership_agree(tree: LocationTree, chance: random.Random) -> None:
    cell = chance.choice(tree.leaves)
    for level in range(tree.height + 1):
        above = tree.ancestor(cell, level)
        assert tree.level_of(above) == level
        assert tree.contains_cell(above)
        assert cell in tree.subtree(above).leaves
        assert [node for node in tree.nodes(level) if cell in tree.subtree(node).leaves] == [above]
        assert tree.ancestor(above, level) == above
    assert tree.ancestor(cell, tree.height) == tree.root


def test_a_hexagon_grows_by_seven_and_a_pentagon_by_one_less_for_each_pentagon() -> None:
    hexagon, pentagon = LocationTree(SF, 3), LocationTree(PENTAGON, 3)
    assert [hexagon.count(level) for level in (3, 2, 1, 0)] == [1, 7, 49, 343]
    assert [pentagon.count(level) for level in (3, 2, 1, 0)] == [1, 6, 41, 286]
    for tree in (hexagon, pentagon):
        for level in range(1, 4):
            for node in tree.nodes(level):
                assert len(tree.children(node)) == (6 if cells.is_pentagon(node) else 7)
            assert len(tree.nodes(level)) == tree.count(level)
        assert sum(map(cells.is_pentagon, tree.leaves)) == cells.is_pentagon(tree.root)


@pytest.mark.parametrize("pentagon", PENTAGONS)
def test_every_pentagon_is_a_root(pentagon: str) -> None:
    tree = LocationTree(pentagon, 2)
    assert len(tree.leaves) == 41
    assert tree.leaf_at(*cells.centre(pentagon)) in tree.leaves


def test_a_tree_of_height_zero_is_its_root() -> None:
    tree = LocationTree(SF, 0)
    assert tree.leaves == tree.nodes(0) == tuple(tree.depth_first()) == (SF,)
    assert tree.children(SF) == ()
    assert tree.ancestor(SF, 0) == SF


def test_leaves_have_no_children() -> None:
    assert SMALL.children(SMALL.leaves[0]) == ()


@given(latitudes, longitudes, st.integers(0, 12), st.integers(0, 3))
def test_the_tree_around_a_point_contains_it(
    latitude: float, longitude: float, resolution: int, height: int
) -> None:
    tree = tree_around(latitude, longitude, resolution, resolution + height)
    assert (tree.root_resolution, tree.height) == (resolution, height)
    assert tree.contains_point(latitude, longitude)
    assert tree.leaf_at(latitude, longitude) in tree.leaves


@given(st.floats(37.72, 37.82), st.floats(-122.5, -122.36))
def test_a_point_is_in_the_tree_exactly_if_its_leaf_is(latitude: float, longitude: float) -> None:
    leaf = cells.cell_at(latitude, longitude, SMALL.leaf_resolution)
    assert SMALL.contains_point(latitude, longitude) == (leaf in SMALL.leaves)
    if leaf in SMALL.leaves:
        assert SMALL.leaf_at(latitude, longitude) == leaf
    else:
        with pytest.raises(OutsideTree) as refusal:
            SMALL.leaf_at(latitude, longitude)
        assert f"{latitude:.2f}" not in str(refusal.value)
        assert leaf not in str(refusal.value)


def test_the_coarse_cell_around_a_point_is_not_always_the_ancestor_of_its_leaf() -> None:
    # H3's shapes nest only approximately. Whoever asked for the coarse cell at the point would
    # put one point in fourteen in the wrong subtree; the tree takes ancestors by identifier.
    chance = random.Random(1)  # noqa: S311
    points = [(chance.uniform(37.7, 37.8), chance.uniform(-122.5, -122.4)) for _ in range(5000)]
    differ = [
        point
        for point in points
        if cells.cell_at(*point, 7) != cells.ancestor(cells.cell_at(*point, 9), 7)
    ]
    assert 0.04 < len(differ) / len(points) < 0.11
    for point in differ:
        tree = tree_around(*point, 7, 9)
        assert tree.root != cells.cell_at(*point, 7)
        assert tree.leaf_at(*point) in tree.leaves
        assert not LocationTree(cells.cell_at(*point, 7), 2).contains_point(*point)


@pytest.mark.parametrize("height", [-1, True, False, 2.0, "2", None, math.nan])
def test_a_height_is_a_whole_number_from_zero_on(height: object) -> None:
    with pytest.raises(InvalidTree, match="whole number from 0"):
        LocationTree(SF, height)  # type: ignore[arg-type]


@pytest.mark.parametrize("height", [10, 16, 10**100])
def test_a_tree_ends_where_h3_ends(height: int) -> None:
    with pytest.raises(InvalidTree, match="choose a height up to 9"):
        LocationTree(SF, height)
    assert LocationTree(SF, 9).leaf_resolution == 15


def test_a_root_is_kept_in_its_canonical_spelling() -> None:
    assert LocationTree(SF.upper(), 2) == SMALL
    assert SMALL.contains_cell(SMALL.leaves[3].upper())
    assert SMALL.ancestor(SMALL.leaves[3].upper(), 0) == SMALL.leaves[3]
    assert SMALL.subtree(SMALL.nodes(1)[2].upper()).root == SMALL.nodes(1)[2]


@pytest.mark.parametrize("root", ["nowhere", "", None, 5])
def test_a_root_is_a_cell(root: object) -> None:
    with pytest.raises(InvalidCell):
        LocationTree(root, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [-1, 3, True, 1.0, "1", None])
def test_a_tree_has_its_levels_and_no_others(level: object) -> None:
    for with_level in (
        SMALL.nodes,
        SMALL.count,
        SMALL.resolution,
        SMALL.subtrees,
        lambda level: SMALL.ancestor(SMALL.leaves[0], level),
    ):
        with pytest.raises(InvalidTree, match="levels 0 to 2"):
            with_level(level)  # type: ignore[arg-type]


def test_cells_of_other_trees_are_refused_and_not_named() -> None:
    stranger = LocationTree(cells.neighbours(SF)[0], 2).leaves[0]
    coarser, finer = cells.ancestor(SF, 5), cells.descendants(SF, 9)[0]
    for cell in (stranger, coarser, finer):
        assert not SMALL.contains_cell(cell)
        for with_cell in (SMALL.level_of, SMALL.subtree, SMALL.children):
            with pytest.raises(OutsideTree, match="not one of the tree") as refusal:
                with_cell(cell)
            assert cell not in str(refusal.value)


def test_a_cell_has_no_ancestor_below_itself() -> None:
    with pytest.raises(OutsideTree, match="level 2 has no ancestor at level 0"):
        SMALL.ancestor(SF, 0)


def test_listing_more_cells_than_fit_is_refused_but_counting_them_is_not() -> None:
    tall = LocationTree(SF, 9)
    assert tall.count(0) == 7**9
    with pytest.raises(InvalidTree, match="40,353,607 cells, more than 117,649"):
        _ = tall.leaves
    assert len(tall.nodes(5)) == 7**4
    assert MOST_LEAVES == 7**6


def test_leaves_coarser_than_the_root_are_refused() -> None:
    with pytest.raises(InvalidTree, match="the leaf resolution is the larger number"):
        tree_around(37.77, -122.42, 9, 6)


@pytest.mark.parametrize("point", [(91, 0), (-122.42, 37.77), (math.nan, 0)])
def test_no_tree_grows_around_a_point_off_the_globe(point: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="not on the globe"):
        tree_around(*point, 6, 9)


def test_a_tree_is_a_value() -> None:
    assert len({SMALL, LocationTree(SF, 2), LocationTree(SF, 1)}) == 2
    with pytest.raises(AttributeError):
        SMALL.height = 3  # type: ignore[misc]
