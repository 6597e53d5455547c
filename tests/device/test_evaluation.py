"""S over the whole map: what is removed, why, and that it does not depend on where the user is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.areas import Around, ListedCells, Place, Polygon
from geocorgi.device.attributes.values import AttributeValues
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import Operator, Preference, Unknown
from geocorgi.device.removal import fitting_filters
from geocorgi.device.sources import Source
from geocorgi.device.units import Kind
from geocorgi.errors import AttributeUnknown, InvalidInput, InvalidPolicy
from geocorgi.tree import cells, distances
from tests.wire.maps import LEAVES, TREE, small_map

MAP = small_map(filters={"popular": LEAVES[::2], "land": LEAVES[:40]})


def wanting(*preferences, **more):
    return Policy(1, 0, preferences, **more)


def truths(*true):
    return AttributeValues(Kind.BOOLEAN, {leaf: leaf in true for leaf in LEAVES})


def test_home_leaves_and_the_reason_names_the_line():
    policy = wanting(Preference("home", "=", False, line=3))
    removal = removed_over_map(policy, MAP, {"home": truths(LEAVES[9])})
    assert removal.removed == {LEAVES[9]}
    assert removal.reasons(LEAVES[9]) == ("home = False (line 3)",)
    assert removal.reasons(LEAVES[8]) == ()
    assert removal.publicly_removed == frozenset()
    assert removal.notes == ()


def test_what_the_map_says_publicly_can_be_asked_for_as_a_filter():
    popular = Preference("popular", "=", True)
    home = Preference("home", "=", False)
    own = {"home": truths(LEAVES[2])}
    removal = removed_over_map(wanting(home, popular), MAP, own)
    assert removal.removed == set(LEAVES[1::2]) | {LEAVES[2]}
    assert fitting_filters(removal, MAP) == ("popular",)
    for kept in (
        wanting(home, Preference("popular", "=", True, private=True)),
        wanting(home, popular, private=True),
    ):
        secret = removed_over_map(kept, MAP, own)
        assert secret.removed == removal.removed
        assert fitting_filters(secret, MAP) == ()


def test_the_filter_that_removes_most_comes_first():
    both = wanting(Preference("popular", "=", True), Preference("land", "=", True))
    assert fitting_filters(removed_over_map(both, MAP, {}), MAP) == ("popular", "land")


def test_numbers_of_the_map_are_compared_and_asked_for_as_truth():
    at_least = removed_over_map(wanting(Preference("popular_18", "≥", 40)), MAP, {})
    assert at_least.removed == set(LEAVES[:40])
    truth = removed_over_map(wanting(Preference("popular_18", "=", True)), MAP, {})
    assert truth.removed == {LEAVES[0]}


@pytest.mark.parametrize("unknown", list(Unknown))
def test_unknown_cells_are_kept_removed_or_refused_and_never_silently(unknown):
    source = Source(Kind.CATEGORY, table="weather.csv")
    known = AttributeValues(Kind.CATEGORY, dict.fromkeys(LEAVES[:9], "rain"), "timed out")
    policy = wanting(
        Preference("weather", "≠", "snow", unknown=unknown, line=7), sources={"weather": source}
    )
    if unknown is Unknown.REFUSE:
        with pytest.raises(AttributeUnknown, match=r"line 7: .*40 of 49 cells \(timed out\)"):
            removed_over_map(policy, MAP, {"weather": known})
        return
    removal = removed_over_map(policy, MAP, {"weather": known})
    assert removal.removed == (set(LEAVES[9:]) if unknown is Unknown.REMOVE else set())
    (note,) = removal.notes
    assert "timed out" in note
    assert f"unknown = {unknown}" in note


def test_without_a_history_home_is_refused_and_the_way_out_named():
    with pytest.raises(AttributeUnknown, match="geocorgi policy places"):
        removed_over_map(wanting(Preference("home", "=", False)), MAP, {})


def test_a_policy_that_leaves_nothing_names_the_line_that_took_the_last_cell():
    policy = wanting(
        Preference("popular", "=", True, line=1),
        Preference("popular", "=", False, line=2),
        Preference("land", "=", True, line=3),
    )
    with pytest.raises(InvalidPolicy, match=r"line 2: .*no cell of the whole map"):
        removed_over_map(policy, MAP, {})


def test_subtrees_of_which_nothing_stays_are_named():
    policy = wanting(black_list=[ListedCells((TREE.nodes(1)[2],))])
    assert removed_over_map(policy, MAP, {}).emptied(1) == (TREE.nodes(1)[2],)


def test_the_last_preferences_can_be_given_up_first():
    policy = wanting(
        Preference("popular", "=", True),
        Preference("land", "=", True),
        black_list=[ListedCells((LEAVES[0],))],
    )
    removal = removed_over_map(policy, MAP, {})
    assert [rule.text for rule in removal.first(2).rules] == [
        "black list: 1 cells",
        "popular = True",
    ]
    assert removal.first(1).removed == {LEAVES[0]}


@pytest.mark.parametrize(
    ("preference", "says"),
    [
        (Preference("traffik", "=", "low", line=4), "line 4: nothing is known of a variable"),
        (Preference("home", "=", 1.0, line=4), "line 4: 'home' is compared with True or False"),
        (Preference("distance", "<", 5.0, line=4), "line 4: .* one of m, km, miles"),
        (Preference("distance", "<", 5.0, "minutes", line=4), "line 4: 'distance' is compared"),
        (Preference("popular_18", "<", 5.0, "km", line=4), "boolean|number"),
    ],
)
def test_variables_are_typed(preference, says):
    with pytest.raises(InvalidPolicy, match=says):
        removed_over_map(wanting(preference), MAP, {})


NEAR = Place(*cells.centre(LEAVES[20]))


def test_a_black_list_removes_all_that_it_touches_a_white_list_keeps_what_is_inside():
    away = distances.haversine_km(NEAR.latitude, NEAR.longitude, *cells.centres(LEAVES))
    around = Around("gym", 0.5)
    black = removed_over_map(wanting(black_list=[around], places={"gym": NEAR}), MAP, {}).removed
    white = removed_over_map(wanting(white_list=[around], places={"gym": NEAR}), MAP, {}).removed
    inside = {leaf for leaf, km in zip(LEAVES, away, strict=True) if km <= 0.5}
    assert set(LEAVES) - white == inside
    assert inside < black
    for leaf in set(LEAVES) - black:
        corners = np.array(cells.boundary(leaf))
        km = distances.haversine_km(NEAR.latitude, NEAR.longitude, corners[:, 0], corners[:, 1])
        assert km.min() > 0.5


def test_a_drawn_area_in_both_lists():
    corners = [[lng, lat] for lat, lng in cells.boundary(TREE.nodes(1)[3])]
    ring = [*corners, corners[0]]
    drawn = Polygon('{"type": "Polygon", "coordinates": ' + str([ring]) + "}")
    black = removed_over_map(wanting(black_list=[drawn]), MAP, {}).removed
    white = set(LEAVES) - removed_over_map(wanting(white_list=[drawn]), MAP, {}).removed
    assert white < black
    assert LEAVES[21] in white


def test_a_finer_cell_stands_for_the_leaf_around_it():
    inside = cells.cell_at(NEAR.latitude, NEAR.longitude, 12)
    removal = removed_over_map(wanting(black_list=[ListedCells((inside,))]), MAP, {})
    assert removal.removed == {LEAVES[20]}


def test_distance_is_from_the_subtrees_centre_unless_said_otherwise():
    removal = removed_over_map(wanting(Preference("distance", "≤", 300, "m")), MAP, {})
    for subtree in TREE.subtrees(1):
        stays = set(subtree.leaves) - removal.removed
        middle = np.array([cells.centre(subtree.root)])
        km = distances.haversine_km(middle[:, 0], middle[:, 1], *cells.centres(subtree.leaves))
        assert stays == {leaf for leaf, d in zip(subtree.leaves, km, strict=True) if d <= 0.3}
        assert 1 <= len(stays) < 7


PREFERENCES = st.sampled_from(
    [
        Preference("home", "=", False),
        Preference("popular", "=", True),
        Preference("popular_18", ">", 7),
        Preference("distance", "≤", 0.4, "km"),
        Preference("distance", "≤", 1.2, "miles", origin="gym"),
    ]
)


@given(st.lists(PREFERENCES, max_size=4), st.sets(st.sampled_from(LEAVES), max_size=5))
def test_s_is_the_same_wherever_the_user_is(preferences, homes):
    policy = wanting(*preferences, places={"gym": NEAR})
    own = {"home": truths(*homes)}
    assert not policy.voids_geo_ind
    found = {
        removed_over_map(policy, MAP, own, real_leaf=leaf).removed for leaf in [None, *LEAVES[::6]]
    }
    assert len(found) == 1


def test_a_distance_from_me_depends_on_it_and_says_that_nothing_holds():
    policy = wanting(Preference("distance", "≤", 1, "km", origin="me"))
    assert policy.voids_geo_ind
    with pytest.raises(InvalidInput, match="from 'me'"):
        removed_over_map(policy, MAP, {})
    here, there = (removed_over_map(policy, MAP, {}, real_leaf=LEAVES[at]) for at in (0, 48))
    assert here.voids_geo_ind
    assert here.removed != there.removed
    assert LEAVES[0] not in here.removed
    assert fitting_filters(here, MAP) == ()


@given(
    st.sampled_from(list(Operator)),
    st.floats(-50, 50),
    st.lists(st.floats(-50, 50), min_size=49, max_size=49),
)
def test_every_operator_removes_exactly_what_does_not_meet_it(operator, wanted, row):
    policy = wanting(
        Preference("slope", operator, wanted), sources={"slope": Source(Kind.NUMBER, table="t.csv")}
    )
    met = {
        "=": [x == wanted for x in row], "≠": [x != wanted for x in row],
        "<": [x < wanted for x in row], ">": [x > wanted for x in row],
        "≤": [x <= wanted for x in row], "≥": [x >= wanted for x in row],
    }[operator]  # fmt: skip
    known = {"slope": AttributeValues(Kind.NUMBER, dict(zip(LEAVES, row, strict=True)))}
    if not any(met):
        with pytest.raises(InvalidPolicy):
            removed_over_map(policy, MAP, known)
        return
    gone = removed_over_map(policy, MAP, known).removed
    assert gone == {leaf for leaf, ok in zip(LEAVES, met, strict=True) if not ok}


def test_no_repr_shows_a_place():
    policy = wanting(black_list=[Around("gym", 0.5)], places={"gym": NEAR})
    removal = removed_over_map(policy, MAP, {"home": truths(LEAVES[3])})
    shown = repr(policy) + repr(removal) + repr(truths(LEAVES[3]))
    assert not any(leaf in shown for leaf in LEAVES)
    assert f"{NEAR.latitude:.3f}"[:6] not in shown
