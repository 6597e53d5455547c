"""Made-up cities: the same for ever, plausible, and true to their own ground truth."""

import gzip
import itertools
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

from geocorgi.checkins.counts import leaf_counts, visits
from geocorgi.checkins.readers import inspect, read_snap
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.synthetic.city import City, CityPlan, Truth, synthetic_city
from geocorgi.synthetic.files import (
    CHECK_INS_FILE,
    SAN_FRANCISCO,
    TRUTH_FILE,
    bundled_check_ins,
    bundled_truth,
    check_ins_as_text,
    read_truth,
    truth_as_text,
    write_check_ins,
    write_truth,
)
from geocorgi.synthetic.ground import ALWAYS
from geocorgi.synthetic.people import Habit
from geocorgi.tree.cells import ancestor, cell_at, descendants

LEAVES = descendants(SAN_FRANCISCO.root, SAN_FRANCISCO.leaf_resolution)
ELSEWHERE = {
    "Paris": (cell_at(48.86, 2.35, 6), "Europe/Paris", 9),
    "Kolkata, half an hour off": (cell_at(22.57, 88.36, 7), "Asia/Kolkata", 9),
    "the antimeridian": (cell_at(-16.8, 180.0, 5), "Pacific/Fiji", 8),
    "the south pole": (cell_at(-90.0, 0.0, 4), "Antarctica/McMurdo", 6),
    "a pentagon": ("844c001ffffffff", "UTC", 6),
    "seven leaves": ("872830828ffffff", "America/Los_Angeles", 8),
}


@pytest.fixture(scope="module")
def city() -> City:
    return synthetic_city(SAN_FRANCISCO)


@pytest.fixture(scope="module")
def seen() -> pl.DataFrame:
    """Visits inside the bundled city, with the hour of its own clock."""
    with bundled_check_ins() as path:
        frame = visits(read_snap(path, strict=True), LEAVES).frame
    local = pl.col("time").dt.convert_time_zone(SAN_FRANCISCO.timezone)
    return frame.with_columns(
        pl.col("user").cast(int), hour=local.dt.hour(), weekday=local.dt.weekday()
    )


def test_the_bundled_city_grows_from_its_seed_to_the_byte(city: City) -> None:
    data = files("geocorgi.synthetic") / "data"
    # What zlib makes of the bytes differs between builds, hence compared unpacked.
    packed = (data / CHECK_INS_FILE).read_bytes()
    assert gzip.decompress(packed).decode() == check_ins_as_text(city)
    assert gzip.decompress((data / TRUTH_FILE).read_bytes()).decode() == truth_as_text(city.truth)
    assert bundled_truth() == city.truth
    assert len(packed) <= 400_000
    assert 20_000 <= len(city.visits) <= 40_000


def test_writing_a_city_twice_gives_the_same_bytes(tmp_path: Path, city: City) -> None:
    for name in ("a.gz", "b.gz", "c.tsv"):
        write_check_ins(city, tmp_path / name)
        write_truth(city, tmp_path / f"truth {name}")
        assert read_truth(tmp_path / f"truth {name}") == city.truth
        assert inspect(read_snap(tmp_path / name, strict=True)).rows_good == len(city.visits)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_file_that_is_no_truth_is_refused(tmp_path: Path) -> None:
    for text in ("1\tday\n", ""):
        (tmp_path / "a.tsv").write_text(text)
        with pytest.raises(BadFile, match="expected the header"):
            read_truth(tmp_path / "a.tsv")


def test_rows_stand_by_user_and_newest_first(city: City) -> None:
    keys = [(visit.user, -visit.time.timestamp()) for visit in city.visits]
    assert keys == sorted(keys)


def test_another_seed_is_another_city() -> None:
    small = [CityPlan(SAN_FRANCISCO.root, "UTC", seed, users=5) for seed in (1, 2)]
    assert check_ins_as_text(synthetic_city(small[0])) != check_ins_as_text(
        synthetic_city(small[1])
    )


def test_cells_are_visited_as_unevenly_as_in_real_check_ins() -> None:
    with bundled_check_ins() as path:
        result = leaf_counts(read_snap(path), LEAVES)
    counts = np.sort(result.counts)[::-1]
    # Real San Francisco and New York: 30-40 % of cells empty, a tenth has 61-66 %, 0-15 % outside.
    assert 0.2 < (counts == 0).mean() < 0.45
    assert 0.45 < counts[:34].sum() / counts.sum() < 0.75
    assert 0.005 < result.outside / result.report.rows_good < 0.15


def test_a_few_users_check_in_much_more_than_half_of_them(seen: pl.DataFrame) -> None:
    rows = seen.group_by("user").len()["len"]
    assert rows.quantile(0.9) > 3 * rows.quantile(0.5)


def test_the_truth_tells_homes_offices_and_outliers(city: City, seen: pl.DataFrame) -> None:
    visited = Counter(seen.select("user", "leaf").iter_rows())
    for known in city.truth:
        assert known.home_cell in LEAVES
        assert known.office_cell != known.home_cell
        assert (known.office_cell is None) == (known.habit is Habit.NONE)
        for cell in known.outlier_cells:
            assert visited[known.user, cell] == 1
            row = seen.filter((pl.col("user") == known.user) & (pl.col("leaf") == cell))
            assert row["hour"].item() in (1, 2, 3, 4)
    habits = Counter(known.habit for known in city.truth)
    assert min(habits[habit] for habit in Habit) >= 10
    assert sum(bool(known.outlier_cells) for known in city.truth) > 50


def most_seen(frame: pl.DataFrame) -> dict[int, str]:
    ranked = frame.group_by("user", "leaf").len().sort("len", "leaf", descending=True)
    return dict(ranked.group_by("user").first().select("user", "leaf").iter_rows())


def share_right(guessed: dict[int, str], truth: dict[int, str | None]) -> float:
    right = [guessed.get(user) == cell for user, cell in truth.items()]
    return sum(right) / len(right)


def test_simple_inference_finds_most_homes_and_offices_but_not_all(
    city: City, seen: pl.DataFrame
) -> None:
    often = set(seen.group_by("user").len().filter(pl.col("len") >= 20)["user"])
    known = [truth for truth in city.truth if truth.user in often]
    hour, weekday = pl.col("hour"), pl.col("weekday")
    homes = most_seen(seen.filter((hour >= 21) | (hour < 7)))
    offices = most_seen(seen.filter(hour.is_between(9, 16) & (weekday <= 5)))
    by_day = [truth for truth in known if truth.habit is Habit.DAY]
    assert 0.75 < share_right(homes, {t.user: t.home_cell for t in known}) < 0.98
    assert 0.8 < share_right(offices, {t.user: t.office_cell for t in by_day}) < 0.995


def test_who_works_at_night_is_at_the_office_at_night(city: City, seen: pl.DataFrame) -> None:
    for known in city.truth:
        if known.office_cell is None or known.habit is Habit.DAY:
            continue
        theirs = (pl.col("user") == known.user) & (pl.col("weekday") <= 5)
        at_work = seen.filter(theirs & (pl.col("leaf") == known.office_cell))
        night = at_work.filter((pl.col("hour") >= 20) | (pl.col("hour") <= 8))
        assert len(night) >= 0.7 * len(at_work)


def test_nobody_checks_in_at_two_usual_places_within_twenty_minutes(city: City) -> None:
    odd = {(known.user, cell) for known in city.truth for cell in known.outlier_cells}
    usual = [visit for visit in city.visits if (visit.user, visit.place.leaf) not in odd]
    for later, earlier in itertools.pairwise(usual):
        if later.user == earlier.user:
            assert later.time - earlier.time >= timedelta(minutes=20)


@pytest.mark.parametrize(("root", "zone", "leaves"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_city_can_stand_anywhere(tmp_path: Path, root: str, zone: str, leaves: int) -> None:
    plan = CityPlan(root, zone, seed=7, leaf_resolution=leaves, users=30, median_check_ins=30)
    made = synthetic_city(plan)
    write_check_ins(made, tmp_path / "a.txt")
    cells = descendants(root, leaves)
    result = leaf_counts(read_snap(tmp_path / "a.txt", strict=True), cells)
    assert 0 < result.outside < 0.2 * len(made.visits)
    assert all(truth.home_cell in cells for truth in made.truth)
    for visit in made.visits:
        point = float(f"{visit.place.latitude:.6f}"), float(f"{visit.place.longitude:.6f}")
        assert cell_at(*point, leaves) == visit.place.leaf
    offices = {t.user: t.office_cell for t in made.truth if t.habit is Habit.DAY}
    at_work = [
        visit.time.astimezone(ZoneInfo(zone)).hour
        for visit in made.visits
        if visit.place.leaf == offices.get(visit.user) and visit.place.hours == ALWAYS
    ]
    assert 9 <= np.median(at_work) <= 17


def test_times_are_utc_and_follow_the_clock_of_the_city_through_summer_time() -> None:
    plan = CityPlan(
        SAN_FRANCISCO.root, "America/Los_Angeles", 1, users=20, first_day=date(2010, 1, 1), days=365
    )
    made = synthetic_city(plan)
    assert all(visit.time.tzinfo is UTC for visit in made.visits)
    first, last = made.visits[0].time, made.visits[0].time
    for visit in made.visits:
        first, last = min(first, visit.time), max(last, visit.time)
    assert datetime(2010, 1, 1, tzinfo=UTC) <= first
    assert last < datetime(2011, 1, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "wrong",
    [
        {"root": "nowhere"},
        {"seed": -1},
        {"users": 0},
        {"days": 0},
        {"median_check_ins": float("nan")},
        {"leaf_resolution": 6},
        {"leaf_resolution": 15},
    ],
)
def test_a_plan_that_no_city_follows_from_is_refused(wrong: dict[str, object]) -> None:
    plan = {"root": SAN_FRANCISCO.root, "timezone": "UTC", "seed": 1, **wrong}
    with pytest.raises(InvalidInput):
        CityPlan(**plan)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "a\0b"])
def test_a_time_zone_that_does_not_exist_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        synthetic_city(CityPlan(SAN_FRANCISCO.root, zone, 1, users=1))


def test_the_homes_of_the_truth_lie_in_the_subtrees_of_the_map() -> None:
    truths: tuple[Truth, ...] = bundled_truth()
    subtrees = {ancestor(truth.home_cell, 7) for truth in truths}
    assert 5 <= len(subtrees) <= 7
