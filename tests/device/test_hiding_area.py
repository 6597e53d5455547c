"""A server cannot choose a map so fine that the subtree itself says where the user is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocorgi.device.hiding_area import smallest_area_km2
from geocorgi.device.obfuscate import obfuscate
from geocorgi.device.policy import Policy, Protection
from geocorgi.device.policy_file import parse_policy
from geocorgi.device.policy_on_map import policy_on_map
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import PolicyNotMet
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import uniform_priors
from geocorgi.wire.public_map import PublicMap
from tests.device.forests import device_on
from tests.wire.maps import LEAVES, small_map

FINE_ROOT = cells.descendants(LEAVES[0], 12)[0]


def fine_map() -> PublicMap:
    """An honest map in every respect, but of leaves some metres wide."""
    leaves = LocationTree(FINE_ROOT, 2).leaves
    plain = PublicMap((FINE_ROOT,), 2, uniform_priors(leaves), small_map().settings)
    return with_catalogue(plain, Offer((1, 2), (0,), ("keep",)))


def test_a_map_of_tiny_leaves_is_refused_before_any_forest_is_asked_for_and_nothing_drawn():
    device = replace(device_on(fine_map()), attributes=nobody_is_asked)
    refusals = set()
    for leaf in fine_map().leaves[::9]:
        with pytest.raises(PolicyNotMet, match=r"km², smaller than the 0\.05") as refusal:
            obfuscate(Whereabouts(leaf), Policy(2, 0), device)
        refusals.add(str(refusal.value))
    assert len(refusals) == 1
    assert device.forests.asked == device.memory.asked == []
    with pytest.raises(PolicyNotMet, match="least_area_km2"):
        policy_on_map(Policy(2, 0), fine_map(), {})


def nobody_is_asked(_policy, _map):
    raise AssertionError("a source was asked about the map")


def test_a_level_that_the_map_does_not_have_is_said_as_such():
    with pytest.raises(PolicyNotMet, match="the map offers"):
        obfuscate(Whereabouts(LEAVES[0]), Policy(5, 0), device_on(small_map()))


def test_who_wants_such_a_map_says_so():
    policy = Policy(2, 0, protection=Protection(least_area_km2=0.0))
    assert obfuscate(Whereabouts(fine_map().leaves[3]), policy, device_on(fine_map())).report


def test_the_bound_is_the_smallest_subtree_holds_there_and_fails_just_above():
    public_map = small_map()
    area = smallest_area_km2(public_map, 1)
    assert area == min(cells.area_km2(subtree.root) for subtree in public_map.subtrees(1))
    obfuscate(
        Whereabouts(LEAVES[0]),
        Policy(1, 0, protection=Protection(least_area_km2=area)),
        device_on(public_map),
    )
    with pytest.raises(PolicyNotMet):
        obfuscate(
            Whereabouts(LEAVES[0]),
            Policy(1, 0, protection=Protection(least_area_km2=area * 1.000001)),
            device_on(public_map),
        )


def test_it_has_a_place_in_the_file():
    policy = parse_policy("privacy_level = 2\n[protection]\nleast_area_km2 = 3\n")
    assert policy.protection == Protection(5.0, None, 3.0)
