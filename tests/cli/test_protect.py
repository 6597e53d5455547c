"""``geocorgi protect``: a file in, a file and what holds of it out; refused in one sentence."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from geocorgi.device.bulk import release_file, whole
from geocorgi.device.bulk.alone import alone_in
from geocorgi.errors import BadFile
from geocorgi.tree import cells
from tests.cli.command import said, shell
from tests.cli.published import publish
from tests.device.bulk.releases import write_at, write_rows
from tests.wire.maps import LEAVES

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a folder with a map, forests and rows."""
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GEOCORGI_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GEOCORGI_SERVER", raising=False)
    publish(tmp_path)
    write_rows(tmp_path / "rows.csv", 60)
    return tmp_path


def protected(capsys: Capsys, folder: Path, *words: object, source="rows.csv", out="out.csv"):
    options = ("--map", folder / "map.json", *words)
    return said(capsys, "protect", folder / source, folder / out, *options)


def manifest(capsys: Capsys, folder: Path, *words: object, code: int = 0, **more):
    found = protected(capsys, folder, "--json", *words, **more)
    assert (found.code, found.err) == (code, "")
    return json.loads(found.out)


def test_a_file_becomes_cells_beside_user_and_time_and_a_manifest(capsys, folder):
    said_of_it = manifest(capsys, folder)
    assert said_of_it == json.loads((folder / "out.csv.manifest.json").read_text())
    assert said_of_it["rows"]["reported"] == said_of_it["rows"]["rows"] == 60
    frame = pl.read_csv(folder / "out.csv")
    assert frame.columns == ["user", "time", "cell"]
    assert set(frame["cell"]) <= set(LEAVES)
    assert not (folder / ".out.csv.work").exists()


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (["--keep", "venue"], ["venue", "cell"]),
        (["--keep", "time", "--keep", "user"], ["time", "user", "cell"]),
        (["--keep-none"], ["cell"]),
    ],
)
def test_only_what_is_kept_leaves(capsys, folder, words, columns):
    manifest(capsys, folder, *words)
    assert pl.read_csv(folder / "out.csv").columns == columns


def test_columns_may_have_other_names_and_parquet_comes_and_goes(capsys, folder):
    names = {"user": "id", "time": "at", "latitude": "lat", "longitude": "lon"}
    pl.read_csv(folder / "rows.csv").rename(names).write_parquet(folder / "rows.parquet")
    words = [word for ours, theirs in names.items() for word in (f"--{ours}", theirs)]
    manifest(capsys, folder, *words, source="rows.parquet", out="out.parquet")
    assert pl.read_parquet(folder / "out.parquet").columns == ["id", "at", "cell"]


def test_rows_may_have_no_time(capsys, folder):
    pl.read_csv(folder / "rows.csv").drop("time").write_csv(folder / "timeless.csv")
    manifest(capsys, folder, "--time", "", source="timeless.csv")
    assert pl.read_csv(folder / "out.csv").columns == ["user", "cell"]
    assert protected(capsys, folder, source="timeless.csv").code == 2


def test_people_read_how_much_left_how_much_did_not_and_what_it_adds_up_to(capsys, folder):
    with (folder / "rows.csv").open("a", encoding="utf-8") as file:
        file.write("x,u1,2025-06-01T00:00:00Z,10.0,20.0\nx,u1,never,1,2\n")
    found = protected(capsys, folder)
    assert found.code == 0
    for words in ("60 of 61 rows", "1 outside the map", "1 that cannot be read", "at most for one"):
        assert words in found.out


def policy(folder: Path, text: str) -> list[object]:
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return ["--policy", folder / "policy.toml"]


def test_what_the_policy_removes_is_in_no_row(capsys, folder):
    words = policy(folder, f'privacy_level = 1\nblack_list = ["{LEAVES[10]}"]\n')
    write_at(folder / "near.csv", [(f"u{n}", LEAVES[11]) for n in range(300)])
    found = manifest(capsys, folder, *words, source="near.csv")
    assert found["guarantee"]["removed_leaves"] == 1
    assert LEAVES[10] not in pl.read_csv(folder / "out.csv")["cell"].to_list()


def test_another_recipient_of_the_same_memory_gets_ancestors_of_the_same_draws(capsys, folder):
    words = policy(folder, "privacy_level = 2\n[recipient.coarse]\nprecision_level = 1\n")
    words += ["--memory", folder / "people"]
    manifest(capsys, folder, *words)
    fine = pl.read_csv(folder / "out.csv")["cell"].to_list()
    again = manifest(capsys, folder, *words, "--to", "coarse", out="coarse.csv")
    assert again["rows"]["fresh_draws"] == 0
    coarse = pl.read_csv(folder / "coarse.csv")["cell"].to_list()
    assert coarse == [cells.ancestor(cell, cells.resolution_of(cell) - 1) for cell in fine]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("privacy_level = 2\npreferences = ['home = False']", "line 2: 'home' is one person's"),
        ("privacy_level = 2\npreferences = ['distance < 1 km from me']", "nothing is promised"),
        ("privacy_level = 2\nprecision_level = 1\nprecision = 'average'", "remembers its draws"),
        ("privacy_level = 2\n[budget]\nat_ceiling = 'repeat'", "withholds"),
    ],
)
def test_a_policy_of_one_person_is_not_followed_for_many(capsys, folder, text, words):
    found = protected(capsys, folder, *policy(folder, text))
    assert found.code == 2
    assert words in found.err
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--keep", "latitude"], "never leaves"),
        (["--user", "nobody"], "one column named 'nobody'"),
        (["--cluster", "tcp://10.0.0.1:8786"], "tls://HOST:PORT"),
        (["--buckets", "0"], "buckets"),
    ],
)
def test_what_cannot_be_released_is_refused_in_a_sentence(capsys, folder, words, sentence):
    found = protected(capsys, folder, *words)
    assert (found.code, found.out) == (2, "")
    assert sentence in found.err


def test_nothing_released_and_a_file_that_broke_off_are_said(capsys, folder):
    write_at(folder / "far.csv", [])
    with (folder / "far.csv").open("a", encoding="utf-8") as file:
        file.write("x,u1,2025-06-01T00:00:00Z,10.0,20.0\n")
    assert manifest(capsys, folder, source="far.csv", code=1)["rows"]["outside"] == 1
    import gzip  # noqa: PLC0415

    packed = gzip.compress((folder / "rows.csv").read_bytes())
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) - 8])
    cut = manifest(capsys, folder, source="cut.csv.gz", code=1)
    assert cut["rows"]["broken_off"] == 1
    found = protected(capsys, folder, source="cut.csv.gz")
    assert "broke off" in found.err


def test_interrupted_before_its_end_it_goes_on_from_there(capsys, folder, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(whole, "_join", interrupted)
        found = protected(capsys, folder)
    assert found.code == 130
    assert "run the same command again" in found.err
    drawn = [path.read_bytes() for path in folder.rglob("part-*.parquet")]
    monkeypatch.setattr(release_file, "_tidy", lambda _: None)
    again = manifest(capsys, folder)
    assert [path.read_bytes() for path in folder.rglob("part-*.parquet")] == drawn
    draws = len(set(pl.read_csv(folder / "rows.csv").select("user", "latitude").rows()))
    assert again["rows"]["fresh_draws"] == draws
    with sqlite3.connect(next(folder.rglob("users/*/ledger.sqlite"))) as memory:
        assert memory.execute("SELECT sum(draws) FROM charges").fetchone() == (draws,)


def test_two_runs_for_one_file_do_not_write_it_at_once(capsys, folder):
    (folder / ".out.csv.work").mkdir()
    with alone_in(folder / ".out.csv.work", "out.csv"):
        found = protected(capsys, folder)
        assert (found.code, "another run" in found.err) == (2, True)
        with pytest.raises(BadFile, match="another run"), alone_in(folder / ".out.csv.work", "x"):
            pass
    assert protected(capsys, folder).code == 0


def test_where_the_memory_cannot_be_kept_nothing_is_released(capsys, folder):
    (folder / "people").write_text("a file", encoding="utf-8")
    found = protected(capsys, folder, "--memory", folder / "people")
    assert found.code == 2
    assert "people cannot be used" in found.err
    assert not (folder / "out.csv").exists()


def no_room(*_: object, **__: object) -> None:
    raise pl.exceptions.ComputeError("no room for u1,37.77,-122.41")


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("where", "fails", "says"),
    [
        ("polars.DataFrame.write_parquet", no_room, "is there room on the disk"),
        ("polars.LazyFrame.sink_csv", no_room, "cannot write out.csv"),
        ("numpy.save", full, "cannot write the mechanism: No space"),
        ("geocorgi.device.bulk.bucket.reached_disk", full, "is there room on the disk"),
    ],
)
def test_a_full_disk_is_said_without_a_row_and_the_same_command_goes_on(
    capsys, folder, monkeypatch, where, fails, says
):
    with monkeypatch.context() as patch:
        patch.setattr(where, fails)
        found = protected(capsys, folder)
    assert (found.code, found.out) == (2, "")
    assert says in found.err
    assert "37.77" not in found.err
    assert not (folder / "out.csv").exists()
    rest = manifest(capsys, folder)
    draws = len(set(pl.read_csv(folder / "rows.csv").select("user", "latitude").rows()))
    assert (rest["rows"]["reported"], rest["rows"]["fresh_draws"]) == (60, draws)


def spoilt_parquet(folder: Path) -> str:
    pl.read_csv(folder / "rows.csv").write_parquet(folder / "rows.parquet")
    content = bytearray((folder / "rows.parquet").read_bytes())
    content[200:600] = b"\xff" * 400
    (folder / "rows.parquet").write_bytes(content)
    return "rows.parquet"


def without_a_header(folder: Path) -> str:
    lines = (folder / "rows.csv").read_text(encoding="utf-8").splitlines()[1:]
    (folder / "plain.csv").write_text("\n".join(lines), encoding="utf-8")
    return "plain.csv"


def bytes_of_nonsense(folder: Path) -> str:
    (folder / "noise.csv").write_bytes(b"user,time,latitude,longitude\nu\xff,37.77,\x00\n" * 9)
    return "noise.csv"


@pytest.mark.parametrize("spoil", [spoilt_parquet, without_a_header, bytes_of_nonsense])
def test_after_a_failure_no_row_is_in_what_is_said_even_with_tracebacks(capsys, folder, spoil):
    source = spoil(folder)
    out = folder / "out.csv"
    words = ("--debug", "protect", folder / source, out, "--map", folder / "map.json")
    code, told, err = said(capsys, *words)
    assert code in (1, 2)
    needles = {f"{number:.4f}" for leaf in LEAVES for number in cells.centre(leaf)} | {"37.77"}
    for needle in needles:
        assert needle not in told + err


def test_help_shows_an_example_and_no_terminal_means_no_bar(folder):
    helped = shell(["protect", "--help"], folder)
    assert "Example: geocorgi protect rows.parquet out.parquet" in helped.out
    ran = shell(["protect", "rows.csv", "out.csv", "--map", "map.json"], folder)
    assert (ran.code, ran.err) == (0, "")
