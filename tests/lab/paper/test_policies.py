"""What people need, against S counted by hand; who gets what, and what it costs them."""

from __future__ import annotations

from collections import Counter

import pytest

from geocorgi.device.attributes.own_places import own_attributes, own_places
from geocorgi.lab.experiment import where
from geocorgi.lab.paper import policies
from geocorgi.lab.paper.policies import POLICIES, PRIVATE, PUBLIC, mean_loss_km, share
from geocorgi.lab.people import people_of
from tests.lab.instances import QUICK, city


def needed(habits, variant, level):
    """Return the most cells that the four wishes take from one subtree."""
    known = own_attributes(own_places(habits, ()), city().tree.leaves)
    counts = dict(zip(city().tree.leaves, city().priors.weights.tolist(), strict=True))
    gone = Counter()
    for leaf in city().tree.leaves:
        mine = any(known[name].values.get(leaf) is True for name in ("home", "office", "outlier"))
        popular = counts[leaf] > 0
        if (mine and (popular or variant == PRIVATE)) or (variant == PRIVATE and not popular):
            gone[city().tree.ancestor(leaf, level)] += 1
    return max(gone.values(), default=0)


@pytest.mark.parametrize("variant", [PRIVATE, PUBLIC])
@pytest.mark.parametrize("level", [1, 2])
def test_the_largest_s_is_what_counting_by_hand_finds(variant, level):
    asked = {"part": "people", "city": "synthetic", "level": level, "variant": variant}
    rows = POLICIES.measure(asked, QUICK)
    people = people_of("synthetic", QUICK)[: policies.QUICK_MOST_PEOPLE]
    expected = Counter(needed(habits, variant, level) for habits in people)
    found = Counter()
    for row in rows:
        found[row["needed"]] += row["people"]
        if row["mechanism"] == "forest":
            assert row["delta"] == min(d for d in policies.DELTAS if d >= row["needed"])
    assert found == expected


def row(**given):
    known = {"part": "people", "city": "synthetic", "level": 2, "variant": PRIVATE}
    return known | {"needed": 1, "delta": 2, "mechanism": "forest", "people": 1} | given


ROWS = [
    row(people=3),
    row(people=1, needed=40, delta=32, mechanism="universal"),
    row(people=4, needed=7, delta=-1, mechanism="refused"),
    *({"part": "loss", "city": "synthetic", "level": 2, "variant": PRIVATE, "delta": delta,
       "loss_km": loss} for delta, loss in ((0, 0.01), (2, 0.1), (32, None), (None, 0.5))),
]  # fmt: skip


def test_shares_are_of_all_people():
    people = where(ROWS, part="people")
    assert share(people, beyond=7) == 1 / 8
    assert share(people, mechanism="universal") == 1 / 8
    assert share(people, mechanism="refused") == 4 / 8


def test_the_mean_loss_is_of_those_who_are_served_each_by_what_she_gets():
    found = mean_loss_km(ROWS, level=2, variant=PRIVATE)
    assert found == pytest.approx((3 * 0.1 + 1 * 0.5) / 4)


def test_where_no_matrix_was_made_the_universal_loss_stands_in():
    found = mean_loss_km([*ROWS, row(needed=30, delta=32)], level=2, variant=PRIVATE)
    assert found == pytest.approx((3 * 0.1 + 2 * 0.5) / 5)


def test_where_nobody_is_served_nobody_loses():
    refused = [r for r in ROWS if r["part"] == "loss"] + [row(mechanism="refused")]
    assert mean_loss_km(refused, level=2, variant=PRIVATE) is None
