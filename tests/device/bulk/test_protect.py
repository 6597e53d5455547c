"""Releases: one draw for each user and place; only what is declared leaves; no crash hurts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.checkins import blocks
from geocorgi.checkins.layouts import Columns
from geocorgi.device.bulk.bucket import MECHANISM, bucket_of
from geocorgi.device.bulk.manifest import manifest_path, write_manifest
from geocorgi.device.bulk.mechanism import read_mechanism
from geocorgi.device.bulk.memory import BulkMemory
from geocorgi.device.bulk.preparing import job_of, require_wish
from geocorgi.device.bulk.whole import forget, protect
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.matrix.prunable import Rows
from geocorgi.tree import cells
from tests.conftest import REPOSITORY
from tests.device.bulk.releases import (
    LEAVES,
    MAP,
    REMOVED,
    SMALL_BLOCK,
    prepared_for,
    released,
    wish_in,
    write_at,
    write_rows,
)

EPSILON = 5.0


def out_of(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "out.parquet")


def cells_by_pair(rows, frame: pl.DataFrame) -> dict:
    found = defaultdict(set)
    for pair, cell in zip(rows, frame["cell"], strict=True):
        found[pair].add(cell)
    return found


def test_each_user_and_place_is_drawn_once_and_rows_keep_their_order(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 1_500)
    _, whole = released(tmp_path)
    frame = out_of(tmp_path)
    assert frame.columns == ["user", "time", "cell"]
    assert frame["user"].to_list() == [user for user, _ in rows]
    assert frame["time"].is_sorted()
    found = cells_by_pair(rows, frame)
    assert {len(told) for told in found.values()} == {1}
    assert whole.account["fresh_draws"] == len(found)
    assert whole.account["reported"] == whole.account["rows"] == 1_500
    parents = {cells.ancestor(leaf, 8) for leaf in LEAVES}
    assert set(frame["cell"]) <= parents


def test_draws_follow_the_accepted_matrix(tmp_path):
    # 4,000 users at one leaf; chi-squared with 47 degrees of freedom is above 110 once in 10^6.
    write_at(tmp_path / "rows.csv", [(f"u{n}", LEAVES[24]) for n in range(4_000)])
    prepared = prepared_for(level=0)
    released(tmp_path, prepared)
    counts = dict(out_of(tmp_path)["cell"].value_counts().iter_rows())
    matrix = prepared.accepted.forest.matrices[MAP.roots[0]]
    weights = np.array(matrix.weights[matrix.row_cells.index(LEAVES[24])], dtype=float)
    weights[matrix.column_cells.index(REMOVED)] = 0
    expected = dict(zip(matrix.column_cells, weights / weights.sum() * 4_000, strict=True))
    assert REMOVED not in counts
    often = [cell for cell in expected if expected[cell] >= 5]
    rest = sum(expected[cell] for cell in expected if cell not in often)
    chi = sum((counts.get(cell, 0) - expected[cell]) ** 2 / expected[cell] for cell in often)
    chi += (sum(counts.get(cell, 0) for cell in expected if cell not in often) - rest) ** 2 / rest
    assert chi < 110


def test_a_second_release_of_the_same_people_replays_and_charges_nothing(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 300)
    released(tmp_path)
    first = cells_by_pair(rows, out_of(tmp_path))
    write_at(tmp_path / "later.csv", [*rows[::-1], ("new", LEAVES[0])])
    _, whole = released(tmp_path, source="later.csv", out=tmp_path / "later.parquet")
    later = pl.read_parquet(tmp_path / "later.parquet")
    again = cells_by_pair([*rows[::-1], ("new", LEAVES[0])], later)
    assert whole.account["fresh_draws"] == 1
    assert all(again[pair] == first[pair] for pair in first)


@pytest.mark.parametrize("before", [REMOVED, cells.cell_at(48.85, 2.35, 9)])
def test_a_remembered_cell_that_is_removed_now_or_not_on_the_map_is_drawn_again(tmp_path, before):
    write_at(tmp_path / "rows.csv", [(f"u{n}", LEAVES[24]) for n in range(200)])
    job, _ = released(tmp_path)
    with BulkMemory(job.memory(0)) as memory, memory.alone():
        memory.remember({memory.place("u7", LEAVES[24]): before}, job.keeps)
    forget(job)
    job, _ = released(tmp_path, out=tmp_path / "again.parquet")
    with BulkMemory(job.memory(0)) as memory:
        (drawn,) = memory.remembered([memory.place("u7", LEAVES[24])]).values()
        assert drawn not in {REMOVED, before}
        assert memory.heaviest().draws == 2


def test_rows_outside_the_map_and_bad_rows_are_counted_and_withheld(tmp_path):
    write_at(tmp_path / "rows.csv", [("a", LEAVES[0])] * 3)
    with (tmp_path / "rows.csv").open("a") as file:
        file.write("x,a,2025-06-01T00:00:00Z,10.0,20.0\nx,,2025-06-01T00:00:00Z,1,2\nx,a,bad,1,2\n")
    _, whole = released(tmp_path)
    assert whole.account == {
        "rows": 4, "outside": 1, "in_removed_places": 0, "over_budget": 0, "reported": 3,
        "fresh_draws": 1, "bad_rows": 2, "broken_off": 0,
    }  # fmt: skip
    assert len(out_of(tmp_path)) == 3


def test_with_dropped_rows_a_removed_place_reports_nothing_and_is_counted(tmp_path):
    write_at(tmp_path / "rows.csv", [("a", REMOVED), ("a", LEAVES[0]), ("b", REMOVED)])
    _, whole = released(tmp_path, prepared_for(rows=Rows.DROP))
    assert whole.account["in_removed_places"] == 2
    assert out_of(tmp_path)["user"].to_list() == ["a"]


USERS = st.sampled_from("ab")
ROWS = st.lists(st.tuples(USERS, st.integers(0, 5)), min_size=1, max_size=20)


@settings(max_examples=25)
@given(st.lists(ROWS, min_size=1, max_size=2), st.integers(0, 4))
def test_at_a_users_ceiling_all_her_rows_are_withheld_old_places_and_new_ones(
    tmp_path_factory, releases, most
):
    folder, drawn = tmp_path_factory.mktemp("ceiling"), defaultdict(set)
    prepared = prepared_for(ceiling=most * EPSILON + 1)
    for number, rows in enumerate(releases):
        write_at(folder / f"{number}.csv", [(user, LEAVES[at]) for user, at in rows])
        expected = []
        for user, at in rows:  # the rule, a row at a time
            if len(drawn[user]) < most:
                drawn[user].add(at)
                expected.append(user)
        out = folder / f"{number}.parquet"
        _, whole = released(folder, prepared, source=f"{number}.csv", out=out)
        assert pl.read_parquet(out)["user"].to_list() == expected
        assert whole.account["over_budget"] == len(rows) - len(expected)
    assert whole.heaviest.draws == max(len(places) for places in drawn.values())


def test_only_declared_columns_leave_and_real_places_never(tmp_path):
    write_rows(tmp_path / "rows.csv", 5)
    released(tmp_path, keep=("venue", "user"))
    assert out_of(tmp_path).columns == ["venue", "user", "cell"]
    for keep, words in [
        (("latitude",), "real places"), (("user", "longitude"), "real places"),
        (("cell",), "called"), (("user", "user"), "once"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInput, match=words):
            require_wish(wish_in(tmp_path, keep=keep))
    with pytest.raises(InvalidInput, match="users"):
        require_wish(wish_in(tmp_path, columns=Columns(user=None)))


def test_nothing_of_the_input_lies_in_the_work_folder_or_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", SMALL_BLOCK)
    rows = write_rows(tmp_path / "rows.csv", 200, users=200)
    job, _ = released(tmp_path)
    parts = sorted(job.work.glob("part-*"))
    assert len(parts) > 3
    assert {tuple(pl.read_parquet(part).columns) for part in parts} == {("user", "time", "cell")}
    secrets_of_rows = [f"{cells.centre(leaf)[0]}".encode() for _, leaf in rows]
    for path in [*parts, *job.memories.rglob("*.sqlite*"), *job.work.rglob("*.json")]:
        content = path.read_bytes()
        assert b"bar-" not in content
        assert not any(secret in content for secret in secrets_of_rows)
    assert {path.stat().st_mode & 0o077 for path in (job.work, job.memories)} == {0}


def test_buckets_divide_the_users_and_give_each_the_same_promise(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 400)
    job, whole = released(tmp_path, buckets=3)
    frame = out_of(tmp_path)
    expected = [user for bucket in range(3) for user, _ in rows if bucket_of(user, 3) == bucket]
    assert frame["user"].to_list() == expected
    assert whole.account["rows"] == 400
    assert whole.account["fresh_draws"] == len(set(rows))
    assert len(list(job.memories.iterdir())) == 3
    with pytest.raises(InvalidInput, match="has 3 buckets"):
        released(tmp_path, buckets=2)
    job, again = released(tmp_path, out=tmp_path / "again.parquet")  # as many as there are
    assert (job.buckets, again.account["fresh_draws"]) == (3, 0)


def test_csv_in_csv_out_and_empty_files(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 10)
    released(tmp_path, out=tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "user,time,cell"
    assert lines[1].startswith(f"{rows[0][0]},2025-06-01T00:00:00")
    write_at(tmp_path / "none.csv", [])
    _, whole = released(tmp_path, source="none.csv", out=tmp_path / "none.parquet")
    assert pl.read_parquet(tmp_path / "none.parquet").shape == (0, 3)
    assert whole.account["reported"] == 0


def test_parquet_in(tmp_path):
    write_rows(tmp_path / "rows.csv", 50)
    pl.read_csv(tmp_path / "rows.csv").write_parquet(tmp_path / "rows.parquet")
    released(tmp_path, source="rows.parquet", keep=("user", "venue"))
    assert out_of(tmp_path).columns == ["user", "venue", "cell"]


def test_what_cannot_be_released_is_refused_before_any_work(tmp_path):
    write_rows(tmp_path / "rows.csv", 5)
    (tmp_path / "rows.txt").write_text("")
    for changes, words in [
        ({"source": tmp_path / "rows.txt"}, "known kind"),
        ({"source": tmp_path / "gone.csv"}, "no file"),
        ({"out": tmp_path / "no" / "out.csv"}, "folder"),
        ({"out": tmp_path / "out.txt"}, "known kind"),
    ]:
        with pytest.raises(BadFile, match=words):
            require_wish(wish_in(tmp_path, **changes))
    with pytest.raises(InvalidInput, match="replace"):
        require_wish(wish_in(tmp_path, out=tmp_path / "rows.csv"))


def test_the_manifest_says_what_holds_and_what_does_not(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 100, users=3)
    prepared = prepared_for()
    job, whole = released(tmp_path, prepared)
    out = tmp_path / "out.parquet"
    write_manifest(out, job, prepared, whole)
    manifest = json.loads(manifest_path(out).read_text())
    most = max(len({leaf for user, leaf in rows if user == one}) for one in ("u0", "u1", "u2"))
    guarantee = manifest["guarantee"]
    assert guarantee["epsilon_per_km"] == EPSILON
    assert guarantee["most_draws_of_a_user"] == most
    assert guarantee["composed_epsilon_per_km_of_that_user"] == most * EPSILON
    assert guarantee["forest_sha256"] == prepared.accepted.sha256
    assert manifest["rows"]["reported"] == 100
    assert any("'user', 'time'" in sentence for sentence in manifest["not_guaranteed"])
    assert not any(leaf in manifest_path(out).read_text() for leaf in LEAVES)


def test_the_manifest_of_replays_promises_what_their_draws_keep(tmp_path):
    write_rows(tmp_path / "rows.csv", 50)
    loose = prepared_for(epsilon=15.0)
    released(tmp_path, loose)
    strict = prepared_for()
    job, whole = released(tmp_path, strict, out=tmp_path / "strict.parquet")
    found = write_manifest(tmp_path / "strict.parquet", job, strict, whole)
    assert whole.account["fresh_draws"] == 0
    assert found["guarantee"]["epsilon_per_km"] == 15.0
    assert any("at 15 per km, and a replay keeps" in one for one in found["not_guaranteed"])


@pytest.mark.parametrize(
    ("before", "level", "said"),
    [
        ({"hidden": 1}, 1, "within smaller subtrees"),
        ({"rows": Rows.DROP}, 2, "in no place that was removed then"),
    ],
)
def test_the_manifest_of_replays_says_what_else_their_draws_lack(tmp_path, before, level, said):
    write_rows(tmp_path / "rows.csv", 50)
    released(tmp_path, prepared_for(level=0, **before))
    wide = prepared_for(level=0)
    job, whole = released(tmp_path, wide, out=tmp_path / "wide.parquet")
    found = write_manifest(tmp_path / "wide.parquet", job, wide, whole)
    assert found["guarantee"]["privacy_level"] == level
    assert any(said in one for one in found["not_guaranteed"])


def test_killed_anywhere_it_goes_on_without_drawing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", SMALL_BLOCK)
    rows = write_rows(tmp_path / "rows.csv", 120, users=6)
    steps = [*range(1, 26), 30, 37, 44, 51]
    done = subprocess.run(
        [sys.executable, "-m", "tests.device.bulk.releases", "killed", str(tmp_path),
         *map(str, steps)],
        cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    ended = [line.split() for line in done.stdout.splitlines()]
    assert len(ended) == len(steps)
    assert [status for _, status in ended].count("9") > 20
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("part-*.parquet")}
    job = job_of(wish_in(tmp_path), prepared_for())
    whole = protect(job, tmp_path / "out.parquet")
    found = cells_by_pair(rows, out_of(tmp_path))
    assert {len(told) for told in found.values()} == {1}
    most = max(len({leaf for user, leaf in rows if user == f"u{n}"}) for n in range(6))
    assert whole.heaviest.draws == most  # nobody was charged twice
    assert whole.account["reported"] == 120
    for path in tmp_path.rglob("part-*.parquet"):
        assert before.get(path.name, path.read_bytes()) == path.read_bytes()


def test_batches_that_an_earlier_run_cut_elsewhere_are_done_again(tmp_path, monkeypatch):
    rows = write_rows(tmp_path / "rows.csv", 120, users=6)
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", SMALL_BLOCK)
        released(tmp_path)
    first = cells_by_pair(rows, out_of(tmp_path))
    _, whole = released(tmp_path)
    assert whole.account["reported"] == 120
    assert cells_by_pair(rows, out_of(tmp_path)) == first


def test_two_at_once_draw_every_place_once(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 200)
    program = (
        "import sys; from pathlib import Path; from tests.device.bulk.releases import released;"
        "folder = Path(sys.argv[1]); released(folder, out=folder / sys.argv[2])"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, tmp_path, f"{name}.parquet"],
                         cwd=REPOSITORY)
        for name in ("out", "other")
    ]  # fmt: skip
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    ours, theirs = out_of(tmp_path), pl.read_parquet(tmp_path / "other.parquet")
    assert ours.equals(theirs)
    assert {len(told) for told in cells_by_pair(rows, ours).values()} == {1}


def test_the_mechanism_on_the_disk_is_the_one_that_was_pruned_and_audited(tmp_path):
    write_rows(tmp_path / "rows.csv", 5)
    job, _ = released(tmp_path)
    mechanism = read_mechanism(job.work / MECHANISM)
    assert mechanism.removed == {REMOVED}
    assert (mechanism.row_of >= 0).all()
    drawn = mechanism.draw(np.arange(49).repeat(20))
    assert REMOVED not in drawn
    assert set(drawn) <= set(LEAVES)


def test_a_charge_slides_out_of_the_period(tmp_path):
    with BulkMemory(tmp_path) as memory:
        owner = memory.owner("a")
        noon = datetime(2025, 6, 1, 12, tzinfo=UTC)
        with memory.alone():
            memory.charge(b"run", {owner: 3}, 0.1, noon)
        budget = prepared_for(ceiling=1.0).policy.budget
        assert str(memory.spent([owner], budget, noon)[owner]) == "0.3"
        assert memory.spent([owner], budget, noon.replace(day=2, minute=1)) == {}
