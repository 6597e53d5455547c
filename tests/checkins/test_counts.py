"""Counting check-ins per leaf, against asking H3 about every row."""

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.checkins.counts import leaf_counts, visits
from geocorgi.checkins.leaf_box import GLOBE, box_around
from geocorgi.checkins.readers import POINTS, read_snap, read_text
from geocorgi.errors import InvalidCell, InvalidInput
from geocorgi.tree.cells import boundary, cell_at, cells_at, centre, descendants, resolution_of

REAL = Path(__file__).parents[3] / "shared" / "data"
SAN_FRANCISCO = "86283082fffffff"
ROOTS = {
    "San Francisco": SAN_FRANCISCO,
    "across the antimeridian": cell_at(-16.8, 179.99, 4),
    "around the north pole": cell_at(90.0, 0.0, 3),
    "around the south pole": cell_at(-89.9, 77.0, 2),
    "a pentagon": "844c001ffffffff",
    "a whole base cell": cell_at(10.0, 20.0, 0),
}


def points_around(root: str, seed: int, rows: int) -> np.ndarray:
    """Draw points in and around a cell, many of them close to its corners."""
    random = np.random.default_rng(seed)
    corners = np.array([*boundary(root), centre(root)])
    spread = random.choice([1e-6, 0.01, 0.3, 2.0], (rows, 1)) * random.normal(size=(rows, 2))
    points = corners[random.integers(0, len(corners), rows)] + spread
    anywhere = random.uniform([-90, -180], [90, 180], (rows // 4, 2))
    points = np.concatenate([points, anywhere])
    points[:, 1] = (points[:, 1] + 180) % 360 - 180
    return np.clip(points, [-90, -180], [90, 180])


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS.keys())
def test_every_row_is_counted_in_its_own_leaf_or_outside(
    tmp_path: Path, root: str, seed: int
) -> None:
    points = points_around(root, seed, 400)
    path = tmp_path / "points.txt"
    path.write_text("".join(f"{lat!r}\t{lng!r}\n" for lat, lng in points.tolist()))
    resolution = resolution_of(root) + 2
    leaves = descendants(root, resolution)
    expected = Counter(cell_at(lat, lng, resolution) for lat, lng in points.tolist())
    result = leaf_counts(read_text(path, POINTS), leaves)
    assert result.cells == leaves
    assert result.counts.tolist() == [expected[leaf] for leaf in leaves]
    assert result.counts.sum() + result.outside == result.report.rows_good == len(points)


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS.keys())
def test_the_box_holds_every_corner_and_is_not_the_globe(root: str) -> None:
    leaves = descendants(root, resolution_of(root) + 2)
    box = box_around(leaves)
    for latitude, longitude in itertools.chain.from_iterable(map(boundary, leaves)):
        assert box.south <= latitude <= box.north
        assert abs((longitude - box.middle + 540) % 360 - 180) <= box.half_width
    assert box != GLOBE


def test_cells_on_all_sides_of_the_globe_are_boxed_by_the_globe() -> None:
    around = [cell_at(0, lng, 0) for lng in (0, 90, 180, -90)] + [cell_at(89, 0, 0)]
    assert box_around([*around, cell_at(-89, 0, 0)]) == GLOBE


def test_leaves_of_several_trees_are_counted_in_the_order_given(tmp_path: Path) -> None:
    leaves = [*descendants("872830828ffffff", 9)[::-1], *descendants("87283082affffff", 9)]
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{lat}\t{lng}\n" for lat, lng in map(centre, leaves)) * 2)
    result = leaf_counts(read_text(path, POINTS), leaves)
    assert result.cells == tuple(leaves)
    assert set(result.counts.tolist()) == {2}
    with pytest.raises(ValueError, match="read-only"):
        result.counts[0] = 1


@pytest.mark.parametrize(
    "leaves", [[], [SAN_FRANCISCO] * 2, [SAN_FRANCISCO, "872830828ffffff"], ["no cell"]]
)
def test_leaves_that_are_no_partition_are_refused(tmp_path: Path, leaves: list[str]) -> None:
    with pytest.raises(InvalidCell):
        leaf_counts(read_text(tmp_path / "a.txt", POINTS), leaves)


def test_many_points_get_the_cells_that_each_would_get() -> None:
    points = points_around(SAN_FRANCISCO, 7, 200)
    expected = [cell_at(lat, lng, 9) for lat, lng in points.tolist()]
    assert cells_at(points[:, 0], points[:, 1], 9) == expected
    with pytest.raises(InvalidInput, match="not on the globe"):
        cells_at(np.array([np.nan]), np.array([0.0]), 9)


def test_visits_say_who_was_in_which_leaf_by_user_and_time(tmp_path: Path) -> None:
    latitude, longitude = centre("892830829cbffff")
    rows = [("b", 3), ("a", 2), ("b", 1)]
    text = "".join(f"{u}\t2010-01-0{d}T00:00:00Z\t{latitude}\t{longitude}\t9\n" for u, d in rows)
    (tmp_path / "a.txt").write_text(text + "c\t2010-01-01T00:00:00Z\t0\t0\t9\n")
    result = visits(read_snap(tmp_path / "a.txt"), descendants(SAN_FRANCISCO, 9))
    assert result.frame.select("user", "leaf").rows() == [
        (user, "892830829cbffff") for user in ("a", "b", "b")
    ]
    assert result.frame["time"].dt.day().to_list() == [2, 1, 3]
    assert result.outside == 1


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data is absent")
def test_the_real_san_francisco_has_the_numbers_that_its_readme_says() -> None:
    leaves = descendants(SAN_FRANCISCO, 9)
    real = read_snap(REAL / "gowalla_sf.txt.gz")
    result = leaf_counts(real, leaves)
    assert (result.counts.sum(), np.count_nonzero(result.counts)) == (14_883, 211)
    assert visits(real, leaves).frame["user"].n_unique() == 317
    points = leaf_counts(read_text(REAL / "gowalla_sf_points.txt.gz", POINTS), leaves)
    assert (points.counts.sum(), np.count_nonzero(points.counts)) == (109_867, 296)


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data is absent")
def test_rows_of_the_real_times_square_have_the_number_that_their_readme_says() -> None:
    result = leaf_counts(read_snap(REAL / "gowalla_nyc.txt.gz"), ["862a100d7ffffff"])
    assert result.counts.sum() == 56_316
