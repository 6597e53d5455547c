"""The user's own places: a file for her alone, and what it says of a map."""

from __future__ import annotations

import stat

import pytest

from geocorgi.device.attributes.habits import Habits
from geocorgi.device.attributes.own_places import (
    FILE,
    OwnPlaces,
    own_attributes,
    own_places,
    read_own_places,
    write_own_places,
)
from geocorgi.errors import BadFile, InvalidCell
from geocorgi.tree import cells
from tests.wire.maps import LEAVES, TREE

OWN = own_places(Habits(LEAVES[3], None, (LEAVES[7], LEAVES[5])), LEAVES[:9])


def test_what_is_written_is_read_by_its_owner_alone(tmp_path):
    assert read_own_places(tmp_path) is None
    write_own_places(OWN, tmp_path)
    assert read_own_places(tmp_path) == OWN
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert not any(leaf in repr(OWN) for leaf in LEAVES)


def test_they_are_true_of_their_leaves_and_known_of_all():
    found = own_attributes(OWN, LEAVES)
    true = {
        name: {leaf for leaf, is_ in known.values.items() if is_} for name, known in found.items()
    }
    assert true == {
        "home": {LEAVES[3]}, "office": set(), "outlier": {LEAVES[5], LEAVES[7]},
        "visited": set(LEAVES[:9]),
    }  # fmt: skip
    assert all(set(known.values) == set(LEAVES) for known in found.values())


def test_cells_of_another_resolution_stand_for_leaves():
    finer = cells.descendants(LEAVES[3], 11)[4]
    found = own_attributes(OwnPlaces(home=(finer,), office=(TREE.nodes(1)[1],)), LEAVES)
    assert [leaf for leaf, is_ in found["home"].values.items() if is_] == [LEAVES[3]]
    assert [leaf for leaf, is_ in found["office"].values.items() if is_] == list(LEAVES[7:14])


LISTS = '"home": [], "office": [], "outlier": [], "visited": []}'


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "{",
        "[" * 10_000,
        '{"format": "geocorgi own places 2", ' + LISTS,
        '{"format": "geocorgi own places 1", ' + LISTS.replace("[]", "[7]", 1),
        '{"format": "geocorgi own places 1", ' + LISTS.replace("[]", "1", 1),
    ],
)
def test_a_damaged_file_is_refused_and_the_way_out_named(tmp_path, content):
    (tmp_path / FILE).write_text(content)
    with pytest.raises(BadFile, match="geocorgi policy places"):
        read_own_places(tmp_path)


def test_a_place_is_a_cell():
    with pytest.raises(InvalidCell):
        OwnPlaces(home=("here",))
