"""A public map is its bytes, its name is their digest, and nothing else is read as one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import BadFile, GeocorgiError, InvalidInput, InvalidMessage
from geocorgi.matrix.prunable import Rows
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, uniform_priors
from geocorgi.wire import map_codec
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.map_codec import decode_map, encode_map, map_id, read_map
from geocorgi.wire.predicate import Condition
from geocorgi.wire.public_map import PublicMap, Settings
from tests.conftest import REPOSITORY
from tests.wire.maps import LEAVES, ROOT, TREE, shard_map, small_map

GOLDEN = REPOSITORY / "tests" / "golden" / "public-map.json"
SHARD = REPOSITORY / "tests" / "golden" / "public-map-shard.json"
BYTES = encode_map(small_map())


def test_the_bytes_and_the_name_are_pinned():
    golden = GOLDEN.read_bytes()
    assert golden == BYTES
    assert encode_map(decode_map(golden)) == golden
    assert map_id(small_map()) == "04191c2426b847f9c4bff364a28124b7e5c5466fbcd5f7fa6c6fa333d768ccc5"


def test_a_shard_with_a_predicate_is_pinned_and_comes_back():
    golden = SHARD.read_bytes()
    assert golden == encode_map(shard_map())
    found = decode_map(golden)
    assert encode_map(found) == golden
    assert found.shard == shard_map().shard
    assert found.predicates["busy"] == shard_map().predicates["busy"]
    assert "Fetching all parts tells nothing" in found.shard.reveals


def test_the_map_comes_back_as_it_was():
    found, given_ = decode_map(BYTES), small_map()
    assert found.leaves == LEAVES
    assert found.leaf_resolution == 9
    assert found.catalogue == given_.catalogue
    assert found.settings == given_.settings
    assert dict(found.filters) == {"even": LEAVES[::2]}
    assert found.attributes["popular_18"].tolist() == list(range(49))
    assert found.priors.weights.tolist() == given_.priors.weights.tolist()
    assert found.reportable("even", TREE) == LEAVES[::2]
    assert found.reportable(None, TREE) == LEAVES
    assert found.priors_below(TREE.subtrees(1)[1]).cells == LEAVES[7:14]


@settings(max_examples=30)
@given(
    st.lists(st.floats(0, 1e9), min_size=49, max_size=49),
    st.sets(st.sampled_from(LEAVES)),
    st.none() | st.sets(st.sampled_from(LEAVES), min_size=1),
)
def test_every_map_comes_back(weights, passing, targets):
    aimed = targets and uniform_priors(sorted(targets))
    public_map = small_map(
        priors=Priors(LEAVES, np.array(weights)), filters={"some": sorted(passing)}, targets=aimed
    )
    content = encode_map(public_map)
    assert encode_map(decode_map(content)) == content


def test_every_difference_is_another_map():
    others = [
        small_map(priors=uniform_priors(LEAVES)),
        small_map(settings=Settings((5.0,))),
        small_map(settings=Settings((5.0, 15.0), gap=1e-2)),
        small_map(settings=Settings((5.0, 15.0), work=1_000)),
        small_map(targets=None),
        small_map(filters={}),
        small_map(attributes={}),
    ]
    assert len({map_id(other) for other in [small_map(), *others]}) == 8


def changed(**fields: object) -> bytes:
    return dumped(json.loads(BYTES) | fields)


def dumped(fields: object) -> bytes:
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


ENTRY = {
    "delta": 0, "epsilon_per_km": 5.0, "filter": None, "privacy_level": 1, "rows": "keep",
}  # fmt: skip
EVEN = {"cells": list(LEAVES[::2]), "where": None}
WHERE = {"at_least": 10.0, "at_most": None, "attribute": "popular_18"}
BUSY = {"cells": list(LEAVES[10:]), "where": [WHERE]}
SIBLINGS = {"reveals": "which", "roots_of_region": [ROOT, "872830829ffffff"]}


def filters(**change: object) -> bytes:
    return changed(filters={"busy": BUSY | change, "even": EVEN})


HOSTILE = {
    "an unknown field": changed(owner="me"),
    "another version": changed(format="geocorgi public map 2"),
    "no roots": changed(roots=[]),
    "a root twice": changed(roots=[ROOT, ROOT]),
    "a root that is none": changed(roots=["nowhere"]),
    "a number for a root": changed(roots=[7]),
    "roots of two sizes": changed(roots=["86283082fffffff", ROOT]),
    "height zero": changed(height=0, priors=[1.0]),
    "a huge height": changed(height=8),
    "an impossible height": changed(height=99),
    "leaves of another resolution": changed(leaf_resolution=8),
    "a prior too few": changed(priors=[1.0] * 48),
    "a negative prior": changed(priors=[-1.0] + [1.0] * 48),
    "whole priors": changed(priors=[1] * 49),
    "a text for priors": changed(priors="1"),
    "NaN": BYTES.replace(b"[0.0,", b"[NaN,", 1),
    "targets out of order": changed(
        targets={"cells": [LEAVES[1], LEAVES[0]], "weights": [1.0, 1.0]}
    ),
    "targets with more": changed(targets={"cells": [ROOT], "weights": [1.0], "n": 1}),
    "a foreign cell passes": changed(filters={"even": EVEN | {"cells": ["89283082b6fffff"]}}),
    "a cell passes twice": changed(filters={"even": EVEN | {"cells": [LEAVES[0]] * 2}}),
    "a name that is a path": changed(filters={"../x": EVEN, "even": EVEN}),
    "a filter that is a list": changed(filters={"even": list(LEAVES[::2])}),
    "a cell that fails passes": filters(cells=list(LEAVES[9:])),
    "a cell that passes fails": filters(cells=list(LEAVES[11:])),
    "no conditions": filters(where=[]),
    "too many conditions": filters(where=[WHERE] * 21),
    "a condition without bounds": filters(where=[WHERE | {"at_least": None}]),
    "a condition with a whole bound": filters(where=[WHERE | {"at_least": 10}]),
    "a condition on nothing known": filters(where=[WHERE | {"attribute": "wealth"}]),
    "a condition with more": filters(where=[WHERE | {"user": "me"}]),
    "a shard of another region": changed(
        shard=SIBLINGS | {"roots_of_region": ["872830829ffffff", "87283082affffff"]}
    ),
    "a shard of one": changed(shard=SIBLINGS | {"roots_of_region": [ROOT]}),
    "a region out of order": changed(
        shard=SIBLINGS | {"roots_of_region": ["872830829ffffff", ROOT]}
    ),
    "a shard that acts": changed(shard=SIBLINGS | {"reveals": "\x1b[2J"}),
    "a shard that says nothing": changed(shard=SIBLINGS | {"reveals": ""}),
    "a shard with more": changed(shard=SIBLINGS | {"user": 1}),
    "attributes too few": changed(attributes={"popular": [1.0]}),
    "settings with more": changed(settings={"epsilons_per_km": [5.0], "gap": 0.1, "t": 3}),
    "no epsilons": changed(settings={"epsilons_per_km": [], "gap": 0.1, "work": None}),
    "a gap of one": changed(settings={"epsilons_per_km": [5.0, 15.0], "gap": 1.0, "work": None}),
    "no work": changed(settings={"epsilons_per_km": [5.0, 15.0], "gap": 0.1, "work": 0}),
    "an entry twice": changed(catalogue=[ENTRY, ENTRY]),
    "an entry that is none": changed(catalogue=[1]),
    "an unknown epsilon": changed(catalogue=[ENTRY | {"epsilon_per_km": 6.0}]),
    "an unknown filter": changed(catalogue=[ENTRY | {"filter": "odd"}]),
    "an unknown level": changed(catalogue=[ENTRY | {"privacy_level": 3}]),
    "a delta that leaves nothing": changed(catalogue=[ENTRY | {"delta": 6}]),
    "entries out of order": changed(catalogue=[ENTRY | {"delta": 2}, ENTRY]),
    "too many entries": changed(catalogue=[ENTRY] * 10_001),
    "blanks": BYTES.replace(b",", b", "),
    "a root in capitals": changed(roots=[ROOT.upper()]),
    "targets in capitals": changed(targets={"cells": [LEAVES[0].upper()], "weights": [1.0]}),
    "a region in capitals": changed(
        shard=SIBLINGS | {"roots_of_region": sorted([ROOT.upper(), "872830829ffffff"])}
    ),
    "a zero below zero": changed(priors=[-0.0] + [1.0] * 48),
}


def test_a_filter_that_holds_is_accepted():
    assert decode_map(filters()).predicates["busy"] == (Condition("popular_18", 10.0),)
    assert decode_map(changed(shard=SIBLINGS)).shard.reveals == "which"


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_anything_else_is_refused(content):
    with pytest.raises(GeocorgiError):
        decode_map(content)


@settings(max_examples=100)
@given(st.integers(0, len(BYTES) - 1), st.integers(0, 255))
def test_one_changed_byte_is_refused_or_another_map(at, byte):
    other = BYTES[:at] + bytes([byte]) + BYTES[at + 1 :]
    try:
        found = decode_map(other)
    except GeocorgiError:
        return
    assert encode_map(found) == other


def test_sizes_are_bounded_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(map_codec, "MOST_BYTES", 1_000)
    with pytest.raises(InvalidMessage, match="at most 1,000 bytes"):
        decode_map(BYTES)
    path = tmp_path / "map.json"
    path.write_bytes(BYTES)
    with pytest.raises(BadFile, match=r"map\.json"):
        read_map(path)


def test_a_file_that_is_no_map_is_named(tmp_path):
    (tmp_path / "map.json").write_text("{}")
    for name in ("map.json", "none.json"):
        with pytest.raises(BadFile, match=name):
            read_map(tmp_path / name)


def test_only_what_every_subtree_can_meet_is_offered():
    few = replace(small_map(), filters={"few": LEAVES[::7], "half": LEAVES[:20]}, catalogue=())
    offered = with_catalogue(few, Offer((1, 2), (0, 2, 5, 16), (Rows.KEEP,)))
    deltas = {
        (level, name): sorted(
            {e.delta for e in offered.catalogue if (e.privacy_level, e.filter) == (level, name)}
        )
        for level, name in [(1, None), (2, None), (1, "few"), (2, "few"), (1, "half"), (2, "half")]
    }
    assert deltas == {
        (1, None): [0, 2, 5], (2, None): [0, 2, 5, 16], (1, "few"): [0], (2, "few"): [0, 2, 5],
        (1, "half"): [], (2, "half"): [0, 2, 5, 16],
    }  # fmt: skip
    with pytest.raises(InvalidInput, match="no combination"):
        with_catalogue(few, Offer((1,), (6,)))


def test_a_map_of_several_roots_has_the_leaves_of_all():
    tree = LocationTree("86283082fffffff", 1)
    public_map = PublicMap(
        tree.leaves, 1,
        uniform_priors([leaf for cell in tree.leaves for leaf in LocationTree(cell, 1).leaves]),
        Settings((5.0,)),
        (CatalogueEntry(1, None, 5, Rows.DROP, 5.0),),
    )  # fmt: skip
    assert [subtree.root for subtree in public_map.subtrees(1)] == list(tree.leaves)
    assert encode_map(decode_map(encode_map(public_map))) == encode_map(public_map)


def test_a_map_never_changes():
    public_map = small_map()
    with pytest.raises(ValueError, match="read-only"):
        public_map.attributes["popular_18"][0] = 1
    with pytest.raises(TypeError):
        public_map.filters["more"] = ()
    with pytest.raises(InvalidMessage):
        public_map.reportable("odd", TREE)
