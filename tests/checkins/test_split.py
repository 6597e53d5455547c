"""The 90/10 split of the paper's §6.2: disjoint, exhaustive, seeded, whatever the batches."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.checkins.counts import leaf_counts
from geocorgi.checkins.readers import POINTS, gather, inspect, read_snap, read_text
from geocorgi.checkins.split import SplitBy, split
from geocorgi.errors import InvalidInput
from geocorgi.tree.cells import descendants

REAL = Path(__file__).parents[3] / "shared" / "data"
BAD = "1\tyesterday\t37.7\t-122.4\t9\n"
ROWS_OF_SEED_0 = ["2", "3", "11", "13", "20", "48", "53", "59"]
USERS_OF_SEED_0 = ["3", "7", "12"]
either = pytest.mark.parametrize("by", list(SplitBy))


def some_file(folder: Path, rows: int, users: int) -> Path:
    path = folder / "a.txt"
    path.write_text(
        BAD
        + "".join(
            f"{row % users}\t2010-10-19T00:00:00Z\t{row % 90}\t0\t{row}\n" for row in range(rows)
        )
        + BAD
    )
    return path


@either
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.integers(0, 300),
    users=st.integers(1, 40),
    seed=st.integers(0, 2**70),
    share=st.floats(0.001, 0.999),
)
def test_the_parts_are_disjoint_and_together_the_whole(
    tmp_path: Path, by: SplitBy, rows: int, users: int, seed: int, share: float
) -> None:
    whole = read_snap(some_file(tmp_path, rows, users))
    parts = split(whole, seed=seed, by=by, test_share=share)
    train, test = (gather(part) for part in parts)
    locations = Counter([*train.frame["location"], *test.frame["location"]])
    assert locations == Counter(str(row) for row in range(rows))
    assert train.frame["location"].cast(int).is_sorted()
    for part in (train, test):
        assert part.report.rows_good == len(part.frame)
        assert part.report.rows_bad == 2
        assert part.report.rows_in == part.report.rows_good + part.report.rows_bad
    if by is SplitBy.USER:
        assert not set(train.frame["user"]) & set(test.frame["user"])


@either
def test_the_split_does_not_depend_on_the_size_of_batches(
    tmp_path: Path, by: SplitBy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_snap(some_file(tmp_path, 500, 50))
    expected = gather(split(whole, seed=3, by=by).test).frame
    for size in (97, 1_000, 7_777):
        monkeypatch.setattr("geocorgi.checkins.blocks.BLOCK_BYTES", size)
        assert gather(split(whole, seed=3, by=by).test).frame.equals(expected)


def test_the_split_of_a_seed_is_the_same_for_ever(tmp_path: Path) -> None:
    whole = read_snap(some_file(tmp_path, 60, 20))
    by_row = gather(split(whole, seed=0).test).frame["location"].to_list()
    by_user = (
        gather(split(whole, seed=0, by=SplitBy.USER).test).frame["user"].unique(maintain_order=True)
    )
    assert by_row == ROWS_OF_SEED_0
    assert by_user.to_list() == USERS_OF_SEED_0


@either
def test_another_seed_splits_otherwise_and_the_share_is_kept(tmp_path: Path, by: SplitBy) -> None:
    whole = read_snap(some_file(tmp_path, 5_000, 5_000))
    tests = [gather(split(whole, seed=seed, by=by).test).frame for seed in (1, 2)]
    assert not tests[0].equals(tests[1])
    # 500 expected with a deviation of 21: five of them are never reached by a sound draw.
    assert all(abs(len(test) - 500) < 106 for test in tests)


def test_the_parts_are_counted_like_any_check_ins(tmp_path: Path) -> None:
    leaves = descendants("8075fffffffffff", 1)
    whole = read_snap(some_file(tmp_path, 400, 7))
    parts = [leaf_counts(part, leaves) for part in split(whole, seed=5)]
    expected = leaf_counts(whole, leaves)
    assert np.array_equal(parts[0].counts + parts[1].counts, expected.counts)
    assert parts[0].outside + parts[1].outside == expected.outside


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_that_leaves_one_side_empty_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(InvalidInput, match="share"):
        split(read_snap(tmp_path / "a.txt"), seed=1, test_share=share)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_seed_is_a_whole_number(tmp_path: Path, seed: object) -> None:
    with pytest.raises(InvalidInput, match="seed"):
        split(read_snap(tmp_path / "a.txt"), seed=seed)


def test_check_ins_without_users_cannot_be_split_by_user(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("1\t2\n")
    with pytest.raises(InvalidInput, match="split them by row"):
        inspect(split(read_text(tmp_path / "p.txt", POINTS), seed=1, by=SplitBy.USER).train)


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data is absent")
def test_the_real_check_ins_are_split_nine_to_one() -> None:
    parts = split(read_snap(REAL / "gowalla_sf.txt.gz"), seed=1)
    sizes = [inspect(part).rows_good for part in parts]
    assert sum(sizes) == 17_401
    assert abs(sizes[1] / 17_401 - 0.1) < 0.011
