"""S, δ and the request follow from the policy and the map, whichever the subtree."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.areas import ListedCells
from geocorgi.device.attributes.values import AttributeValues
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.policy import OnExcess, Policy, Protection
from geocorgi.device.preferences import Preference
from geocorgi.device.secret import DeviceSecret
from geocorgi.device.selection import Mechanism, select, selected_here
from geocorgi.device.units import Kind
from geocorgi.errors import InvalidPolicy, PolicyNotMet
from geocorgi.matrix.prunable import Rows
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.tree import cells
from geocorgi.wire.forest_request import encode_request
from tests.wire.maps import LEAVES, small_map

SECRET = DeviceSecret(b"s" * 32)
MAP = with_catalogue(
    small_map(filters={"even": LEAVES[::2], "most": LEAVES[:45]}, catalogue=()),
    Offer((1, 2), (0, 2, 4, 16), tuple(Rows)),
)
ROOTS = [subtree.root for subtree in MAP.subtrees(1)]


def selected(*removed: str, **more):
    """Return the selection of a policy with a private black list of these leaves."""
    black = (ListedCells(tuple(removed)),) if removed else ()
    policy = Policy(**{"privacy_level": 1, "precision_level": 0, "black_list": black} | more)
    known = {"home": AttributeValues(Kind.BOOLEAN, {leaf: leaf == LEAVES[9] for leaf in LEAVES})}
    removal = removed_over_map(policy, MAP, known, LEAVES[20])
    return select(policy, MAP, removal, SECRET)


def counts(leaves) -> Counter[str]:
    return Counter(cells.ancestor(leaf, MAP.leaf_resolution - 1) for leaf in leaves)


def test_delta_is_the_largest_count_of_any_subtree_padded_up_to_the_catalogue():
    # Three of subtree 0 and one of subtree 4: wherever she is, four are asked for.
    found = selected(*LEAVES[:3], LEAVES[30])
    assert (found.needed_delta, found.request.delta) == (3, 4)
    assert found.mechanism is Mechanism.FOREST
    assert found.pruned == found.never_reported == {*LEAVES[:3], LEAVES[30]}


def test_nothing_to_remove_asks_for_nothing():
    assert selected().request.delta == 0


def test_a_rule_on_a_public_attribute_is_asked_for_as_the_filter():
    even = Preference("even", "=", True)
    found = selected(LEAVES[0], LEAVES[1], privacy_level=2, preferences=(even,))
    assert found.request.filter == "even"
    assert found.needed_delta == 1  # one of the two does not pass anyway
    assert found.request.delta == 2
    assert found.pruned == {LEAVES[0]}
    assert found.never_reported == {*LEAVES[1::2], LEAVES[0]}
    kept = selected(LEAVES[0], privacy_level=2, preferences=(replace(even, private=True),))
    assert (kept.request.filter, kept.mechanism) == (None, Mechanism.UNIVERSAL)
    assert kept.never_reported == {*LEAVES[1::2], LEAVES[0]}


def test_where_the_filter_that_removes_most_has_too_small_deltas_another_one_is_asked_for():
    most, even = Preference("most", "=", True), Preference("even", "=", True)
    # 'even' leaves three or four of seven cells: with it no more than delta 0 is offered.
    assert selected(preferences=(even,)).request.filter == "even"
    two = selected(LEAVES[0], preferences=(even,))
    assert (two.request.filter, two.request.delta) == (None, 4)
    crowded = selected(*LEAVES[:5:2], preferences=(even,))
    assert (crowded.request.filter, crowded.mechanism) == ("even", Mechanism.UNIVERSAL)
    large = selected(*LEAVES[:17:2], preferences=(most,), privacy_level=2)
    assert (large.request.filter, large.needed_delta, large.request.delta) == ("most", 9, 16)


@pytest.mark.parametrize(("wish", "offered"), [(5.0, 5.0), (14.9, 5.0), (15.0, 15.0), (99.0, 15.0)])
def test_a_wish_snaps_to_the_next_stricter_entry(wish, offered):
    assert selected(protection=Protection(wish)).request.epsilon_per_km == offered


def test_a_wish_in_metres_is_an_epsilon():
    # ln(4) / 0.1 km = 13.9 per km
    found = selected(protection=Protection(None, radius_km=0.1))
    assert found.request.epsilon_per_km == 5.0
    with pytest.raises(PolicyNotMet, match=r"at most 1\.38.* strictest on offer is 5"):
        selected(protection=Protection(None, radius_km=1.0))


def test_a_level_that_is_not_offered_is_refused_with_what_is():
    with pytest.raises(PolicyNotMet, match="offers level 1 with drop and keep, level 2"):
        selected(privacy_level=3)


TOO_MANY = LEAVES[:5]


def test_beyond_the_largest_delta_the_universal_mechanism_removes_the_same():
    found = selected(*TOO_MANY)
    assert found.mechanism is Mechanism.UNIVERSAL
    assert found.pruned == set(TOO_MANY)
    assert (found.needed_delta, found.request.delta) == (5, 4)  # the request is made all the same


def test_beyond_the_largest_delta_a_policy_may_refuse():
    with pytest.raises(PolicyNotMet, match="up to 5 cells of a subtree and the map offers 4"):
        selected(*TOO_MANY, on_excess="refuse")


def test_beyond_the_largest_delta_the_last_preferences_go_first_and_are_named():
    home, even = Preference("home", "=", False), Preference("even", "=", True, private=True)
    found = selected(LEAVES[0], on_excess="fewer", preferences=(home, even))
    assert found.mechanism is Mechanism.FOREST
    assert found.set_aside == ()  # four of seven at most: everything fits
    crowded = selected(*LEAVES[:5:2], on_excess="fewer", preferences=(home, even))
    assert [rule.text for rule in crowded.set_aside] == ["even = True"]
    assert crowded.pruned == {*LEAVES[:5:2], LEAVES[9]}


def test_a_policy_that_empties_some_subtree_is_refused_for_the_whole_map():
    with pytest.raises(PolicyNotMet, match="nothing to report in 1 of the map's subtrees"):
        selected(*LEAVES[:7])


def test_decoys_fill_every_subtree_up_to_delta_and_stay_where_they_are():
    found = selected(*LEAVES[:3], LEAVES[30], decoys=True)
    assert set(counts(found.pruned).values()) == {4}
    assert len(counts(found.pruned)) == 7
    assert not found.decoys & found.removal.removed
    # Another rule takes their place, and no decoy is exchanged for another.
    fewer = selected(*LEAVES[:3], LEAVES[30], LEAVES[31], decoys=True)
    assert fewer.decoys < found.decoys
    assert len(found.decoys - fewer.decoys) == 1
    other = select(*policy_and_removal(decoys=True), DeviceSecret(b"o" * 32))
    assert other.decoys != select(*policy_and_removal(decoys=True), SECRET).decoys


def policy_and_removal(**more):
    policy = Policy(1, 0, black_list=(ListedCells(LEAVES[:3]),), **more)
    return policy, MAP, removed_over_map(policy, MAP, {})


def test_decoys_leave_something_to_report_and_are_refused_where_rows_leave():
    found = selected(*LEAVES[:6], LEAVES[30], decoys=True)
    assert found.mechanism is Mechanism.UNIVERSAL
    gone = counts(found.pruned)
    assert gone.pop(ROOTS[0]) == 6
    assert set(gone.values()) == {5}
    with pytest.raises(InvalidPolicy, match="decoys need rows"):
        selected(decoys=True, rows="drop")
    with pytest.raises(InvalidPolicy, match="decoys hide nothing"):
        selected(decoys=True, preferences=(NEAR_ME,))


NEAR_ME = Preference("distance", "≤", 1.0, "km", origin="me")


def test_a_policy_that_looks_at_the_user_asks_for_the_most_wherever_she_is():
    policy = Policy(2, 0, (NEAR_ME,))
    removals = {leaf: removed_over_map(policy, MAP, {}, leaf) for leaf in LEAVES}
    found = {leaf: select(policy, MAP, removal, SECRET) for leaf, removal in removals.items()}
    assert len({encode_request(one.request) for one in found.values()}) == 1
    assert found[LEAVES[0]].request.delta == 16
    here = selected_here(found[LEAVES[0]], policy, removals[LEAVES[0]], LEAVES)
    assert here.mechanism is Mechanism.UNIVERSAL
    assert here.request == found[LEAVES[0]].request


def test_excess_where_the_user_is_follows_the_policy_too():
    far = Preference("distance", "≥", 9.0, "km", origin="me")
    home = Preference("home", "=", False)
    known = {"home": AttributeValues(Kind.BOOLEAN, dict.fromkeys(LEAVES, False))}
    outcomes = {}
    for on_excess in OnExcess:
        policy = Policy(2, 0, (home, NEAR_ME), on_excess=on_excess)
        removal = removed_over_map(policy, MAP, known, LEAVES[0])
        asked = select(policy, MAP, removal, SECRET)
        try:
            outcomes[on_excess] = selected_here(asked, policy, removal, LEAVES)
        except PolicyNotMet as refusal:
            outcomes[on_excess] = refusal
    assert outcomes["universal"].mechanism is Mechanism.UNIVERSAL
    assert [rule.text for rule in outcomes["fewer"].set_aside] == [str(NEAR_ME)]
    assert isinstance(outcomes["refuse"], PolicyNotMet)
    policy = Policy(2, 0, (far,))
    asked = select(policy, MAP, removed_over_map(wide(), MAP, {}, LEAVES[0]), SECRET)
    rule = replace(asked.removal.rules[0], removes=frozenset(LEAVES))
    everything = replace(asked.removal, rules=(rule,))
    with pytest.raises(PolicyNotMet, match="every cell of the subtree"):
        selected_here(asked, policy, everything, LEAVES)


def wide() -> Policy:
    return Policy(2, 0, (NEAR_ME,))


@given(st.sets(st.sampled_from(LEAVES), max_size=12), st.sampled_from([1, 2]), st.booleans())
def test_delta_covers_every_subtree_and_is_the_smallest_on_offer_that_does(removed, level, decoys):
    try:
        found = selected(*removed, privacy_level=level, decoys=decoys)
    except PolicyNotMet:
        assert 7 in counts(removed).values()
        return
    resolution = MAP.leaf_resolution - level
    largest = max(Counter(cells.ancestor(leaf, resolution) for leaf in removed).values(), default=0)
    assert found.needed_delta == largest
    assert removed <= found.pruned
    if found.mechanism is Mechanism.FOREST:
        smaller = [delta for delta in (0, 2, 4, 16) if delta < found.request.delta]
        assert max(smaller, default=-1) < largest <= found.request.delta
        pruned = Counter(cells.ancestor(leaf, resolution) for leaf in found.pruned)
        assert max(pruned.values(), default=0) <= found.request.delta
    else:
        assert largest > found.request.delta
