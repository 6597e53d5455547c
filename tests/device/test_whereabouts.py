"""The real location is told to nobody, not even in refusing."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import asdict, dataclass

import pytest

from geocorgi.device.whereabouts import WITHHELD, Whereabouts
from geocorgi.errors import GeocorgiError, InvalidCell, InvalidInput, OutsideTree
from geocorgi.tree import cells
from tests.wire.maps import LEAVES, small_map

MAP = small_map()
POINT = cells.centre(LEAVES[7])


def test_it_says_in_which_leaf_of_a_map_it_lies():
    assert Whereabouts(POINT).leaf_of(MAP) == LEAVES[7]
    assert Whereabouts(LEAVES[7]).leaf_of(MAP) == LEAVES[7]
    finer = cells.descendants(LEAVES[7], MAP.leaf_resolution + 2)[3]
    assert Whereabouts(finer).leaf_of(MAP) == LEAVES[7]


def test_a_point_lies_in_the_leaf_that_contains_it_and_not_in_its_finer_cells_ancestor():
    overhanging, containing = next(
        (point, leaf)
        for finer in cells.descendants(LEAVES[24], MAP.leaf_resolution + 4)
        if (leaf := cells.cell_at(*(point := cells.centre(finer)), MAP.leaf_resolution))
        in set(LEAVES) - {LEAVES[24]}
    )
    assert Whereabouts(overhanging).leaf_of(MAP) == containing != LEAVES[24]


@pytest.mark.parametrize(
    "tell",
    [
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        vars,
        hash,
        lambda held: held == POINT,
        lambda held: held != POINT,
        lambda held: asdict(Holder(held)),
    ],
)
def test_whatever_would_copy_or_compare_it_fails(tell):
    with pytest.raises(TypeError) as refusal:
        tell(Whereabouts(POINT))
    assert_nothing_told(str(refusal.value))


@dataclass
class Holder:
    held: Whereabouts


def test_it_has_no_representation():
    held = Whereabouts(POINT)
    for text in (repr(held), str(held), f"{held}", f"{held!a}", repr([held]), repr(Holder(held))):
        assert WITHHELD in text
        assert_nothing_told(text)


def test_its_leaf_is_looked_up_like_any_other_and_shown_to_nobody():
    leaf = Whereabouts(POINT).leaf_of(MAP)
    assert LEAVES.index(leaf) == 7
    assert {LEAVES[7]: True}[leaf]
    for text in (repr(leaf), repr([leaf]), f"{leaf!r}", repr({"real_leaf": leaf})):
        assert WITHHELD in text
        assert_nothing_told(text)
    for tell in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            tell(leaf)


def test_a_point_is_near_the_leaves_that_it_is_nearly_in():
    corner = cells.boundary(LEAVES[7])[0]
    near = Whereabouts(corner).leaves_near(MAP.leaf_resolution)
    assert len(near) == 3
    assert LEAVES[7] in near
    assert Whereabouts(POINT).leaves_near(MAP.leaf_resolution, 0.0) == (LEAVES[7],)
    assert Whereabouts(LEAVES[7]).leaves_near(MAP.leaf_resolution) == (LEAVES[7],)


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ((48.8566, 2.3522), OutsideTree),
        (cells.cell_at(48.8566, 2.3522, 10), OutsideTree),
        (cells.ancestor(LEAVES[7], MAP.leaf_resolution - 1), InvalidCell),
        ((148.8566, 2.3522), InvalidInput),
        (("48.8566", "2.3522x"), InvalidInput),
        ("48.8566,2.3522", InvalidCell),
    ],
)
def test_a_refusal_does_not_say_where(place, kind):
    with pytest.raises(kind) as refusal:
        Whereabouts(place).leaf_of(MAP)
    assert isinstance(refusal.value, GeocorgiError)
    assert_nothing_told(f"{refusal.value!r} {refusal.value.__context__!r}")


def assert_nothing_told(text: str) -> None:
    for secret in ("8.85", "2.352", LEAVES[7], str(POINT[0])[:5], str(POINT[1])[:6]):
        assert secret not in text
