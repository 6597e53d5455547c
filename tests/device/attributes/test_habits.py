"""Home, office and outliers against a truth that is known: a made-up city's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.checkins.counts import visits
from geocorgi.checkins.readers import read_snap
from geocorgi.device.attributes.habits import Habits, Visit, habits_of
from geocorgi.synthetic.city import CityPlan, synthetic_city
from geocorgi.synthetic.files import SAN_FRANCISCO, bundled_check_ins, bundled_truth
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.time_zone import local_time
from tests.wire.maps import LEAVES

MONDAY = datetime(2024, 3, 4)  # noqa: DTZ001 - the place's own clock
FEWEST_VISITS = 10
SYDNEY = cells.cell_at(-33.87, 151.21, 6)


def at(leaf, day, hour):
    return Visit(leaf, MONDAY + timedelta(days=day, hours=hour))


def scores(city, clock=local_time, fewest=FEWEST_VISITS):
    """Return precision and recall of home, office and outliers for people with enough visits."""
    seen = defaultdict(list)
    for visit in city.visits:
        seen[visit.user].append(Visit(visit.place.leaf, clock(visit.place.leaf, visit.time)))
    said, true = defaultdict(set), defaultdict(set)
    for known in city.truth:
        if len(seen[known.user]) >= fewest:
            found = habits_of(seen[known.user])
            for name, leaves, really in (
                ("home", (found.home,), (known.home_cell,)),
                ("office", (found.office,), (known.office_cell,)),
                ("outlier", found.outliers, known.outlier_cells),
            ):
                said[name] |= {(known.user, leaf) for leaf in leaves if leaf}
                true[name] |= {(known.user, leaf) for leaf in really if leaf}
    right = {name: len(said[name] & true[name]) for name in true}
    return {name: (right[name] / len(said[name]), right[name] / len(true[name])) for name in true}


# Precision and recall that are reached, or more, by people with ten visits or more.
STATED = {"home": (0.85, 0.82), "office": (0.86, 0.68), "outlier": (0.65, 0.95)}


@pytest.mark.parametrize(
    "plan",
    [
        SAN_FRANCISCO,
        replace(SAN_FRANCISCO, seed=7),
        CityPlan(SYDNEY, "Australia/Sydney", 8, median_check_ins=34.0),
        CityPlan(cells.cell_at(51.5, -0.12, 6), "Europe/London", 9, median_check_ins=34.0),
    ],
    ids=["san francisco", "another seed", "sydney", "london"],
)
def test_precision_and_recall_are_as_stated(plan):
    found = scores(synthetic_city(plan))
    for name, (precision, recall) in STATED.items():
        assert found[name][0] >= precision, (name, found[name])
        assert found[name][1] >= recall, (name, found[name])


def test_the_clock_is_the_places_own():
    city = synthetic_city(CityPlan(SYDNEY, "Australia/Sydney", 8, users=150))
    by_utc = scores(city, clock=lambda _leaf, time: time.replace(tzinfo=None))
    assert by_utc["home"][1] < 0.5 < STATED["home"][1]


def test_a_plain_week():
    home, office, cafe, bar = LEAVES[:4]
    week = [at(home, day, hour) for day in range(7) for hour in (7.5, 21)]
    week += [at(home, 5, 10), *(at(office, day, hour) for day in range(5) for hour in (9.5, 14))]
    week += [at(cafe, day, 12.5) for day in range(5)]
    assert habits_of([*week, at(bar, 4, 26)]) == Habits(home, office, (bar,))


def test_who_works_at_night_is_at_home_where_she_is_seen_on_free_days():
    home, office = LEAVES[:2]
    found = habits_of(
        [
            *(at(office, day, 23) for day in range(5)),
            *(at(home, day, 12) for day in range(5)),
            *(at(home, day, 9) for day in (5, 6)),
        ]
    )
    assert (found.home, found.office) == (home, office)


def test_two_oclock_on_saturday_is_fridays_night():
    assert not at(LEAVES[0], 5, 2).is_free
    assert at(LEAVES[0], 5, 6).is_free


@pytest.mark.parametrize(
    "few", [[], [at(LEAVES[0], 0, 21)], [at(LEAVES[0], 0, hour) for hour in (20, 21, 22, 23)]]
)
def test_too_little_says_nothing(few):
    assert habits_of(few) == Habits(None, None, ())


VISITS = st.builds(
    at, st.sampled_from(LEAVES[:6]), st.integers(0, 20), st.sampled_from([2, 7.5, 9.5, 14, 21])
)


@given(st.lists(VISITS, max_size=40), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_within_a_day_matters(seen, random):
    found = habits_of(seen)
    shuffled = random.sample(seen, len(seen))
    assert habits_of(shuffled) == found
    assert found.home not in found.outliers
    assert found.office is None or found.office != found.home
    assert {found.home, found.office, *found.outliers} - {None} <= {visit.leaf for visit in seen}


def test_the_bundled_city_reads_the_same_from_its_file():
    with bundled_check_ins() as path:
        frame = visits(read_snap(path), LocationTree(SAN_FRANCISCO.root, 3).leaves).frame
    homes = {str(known.user): known.home_cell for known in bundled_truth()}
    right = said = 0
    for (user,), rows in frame.group_by("user"):
        found = habits_of(
            Visit(leaf, local_time(leaf, time))
            for leaf, time in zip(rows["leaf"].to_list(), rows["time"].to_list(), strict=True)
        )
        if len(rows) >= FEWEST_VISITS and found.home:
            said += 1
            right += found.home == homes[user]
    assert right / said >= STATED["home"][0]


@pytest.mark.slow
def test_real_histories_say_something(real_data):
    leaves = LocationTree("862a100d7ffffff", 3).leaves
    frame = visits(read_snap(real_data / "gowalla_nyc.txt.gz"), leaves).frame
    homes, people = 0, 0
    for _, rows in frame.group_by("user"):
        if len(rows) < 50:
            continue
        people += 1
        found = habits_of(
            Visit(leaf, local_time(leaf, time))
            for leaf, time in zip(rows["leaf"].to_list(), rows["time"].to_list(), strict=True)
        )
        homes += found.home is not None
        assert len(found.outliers) < len(rows)
    assert people > 100
    assert homes / people > 0.5
