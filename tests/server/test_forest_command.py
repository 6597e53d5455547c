"""``geocorgi-server forest``: whole or not at all, and it goes on where it was killed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geocorgi.matrix.forest_file import forest_from_bytes
from geocorgi.matrix.prunable import Rows, certify
from geocorgi.server import forest_command
from geocorgi.tree import distances
from geocorgi.wire.map_codec import encode_map, map_id
from tests.cli.command import Said
from tests.server.command import said
from tests.wire.maps import small_map

MAP = small_map()


@pytest.fixture
def city(tmp_path) -> Path:
    path = tmp_path / "map.json"
    path.write_bytes(encode_map(MAP))
    return path


def arguments(city: Path, out: Path, *more: str, delta: int = 2) -> list[str]:
    options = ["--level", "1", "--delta", str(delta), "--epsilon", "5", "--rows", "drop"]
    return ["--map", str(city), "--out", str(out), *options, *more]


def run(capsys, *words: object) -> Said:
    return said(capsys, "forest", *words)


def test_the_forest_is_what_the_answer_says(capsys, tmp_path, city):
    out = tmp_path / "forest.safetensors"
    code, answered, err = run(capsys, *arguments(city, out), "--json")
    assert code == 0, err
    found, content = json.loads(answered), out.read_bytes()
    assert found["sha256"] == hashlib.sha256(content).hexdigest()
    assert (found["map_id"], found["subtrees"], found["delta"]) == (map_id(MAP), 7, 2)
    forest = forest_from_bytes(content)
    for matrix in forest.matrices.values():
        table = distances.between_cells(matrix.row_cells)
        assert certify(matrix.weights, table, 5.0, 2, Rows.DROP).holds
    assert err.count("subtree") == 7
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_people_see_every_subtree(capsys, tmp_path, city):
    code, out, _ = run(capsys, *arguments(city, tmp_path / "forest.safetensors", delta=0))
    assert code == 0
    assert "7 subtrees, all certified" in out
    assert all(subtree.root in out for subtree in MAP.subtrees(1))


def test_a_filtered_forest_reports_what_passes(capsys, tmp_path, city):
    out = tmp_path / "forest.safetensors"
    options = arguments(city, out, "--filter", "even", delta=0)
    code, _, err = run(capsys, *options)
    assert code == 0, err
    passing = set(MAP.filters["even"])
    for matrix in forest_from_bytes(out.read_bytes()).matrices.values():
        assert set(matrix.column_cells) <= passing


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "geocorgi.server.cli", "forest", *options]


def killed_after_one_subtree(options: list[str], folder: Path) -> None:
    process = subprocess.Popen(
        command(*options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert line.startswith("subtree 1 of 7")
    assert any(folder.iterdir())


def test_a_run_that_was_killed_goes_on_from_what_was_finished(capsys, tmp_path, city):
    whole, again = tmp_path / "whole.safetensors", tmp_path / "again.safetensors"
    code, _, err = run(capsys, *arguments(city, whole))
    assert code == 0, err
    killed_after_one_subtree(arguments(city, again), tmp_path / ".again.safetensors.work")
    assert not again.exists()
    code, _, err = run(capsys, *arguments(city, again))
    assert code == 0
    assert "finished before" in err
    assert again.read_bytes() == whole.read_bytes()
    assert not (tmp_path / ".again.safetensors.work").exists()


def test_no_worker_outlives_a_command_that_was_killed(tmp_path, city):
    options = arguments(city, tmp_path / "forest.safetensors")
    process = subprocess.Popen(
        command(*options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    workers = _children(process.pid)
    process.kill()
    process.communicate(timeout=60)
    assert workers
    deadline = time.monotonic() + 30
    while any(map(_is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(_is_alive, workers))


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("this system does not list a process's children")
    return [int(child) for child in listed.read_text().split()]


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_ctrl_c_keeps_what_is_finished_and_says_so(capsys, tmp_path, city, monkeypatch):
    def interrupted(*_, work_folder, **__):
        work_folder.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(forest_command, "privacy_forest", interrupted)
    out = tmp_path / "forest.safetensors"
    code, _, err = run(capsys, *arguments(city, out))
    assert code == 130
    assert "run the same command again" in " ".join(err.split())
    assert not out.exists()
    assert (tmp_path / ".forest.safetensors.work").is_dir()


def test_a_work_folder_of_ones_own_is_left_alone(capsys, tmp_path, city):
    folder = tmp_path / "work"
    options = arguments(city, tmp_path / "forest.safetensors", delta=0)
    assert run(capsys, *options, "--work-folder", str(folder))[0] == 0
    assert len(list(folder.iterdir())) == 7


@pytest.mark.parametrize(
    "more",
    [
        ("--delta", "1"),
        ("--epsilon", "6"),
        ("--level", "3"),
        ("--filter", "odd"),
        ("--map", "no-such-map.json"),
        ("--out", "forest.json"),
        ("--out", "no/such/folder/forest.safetensors"),
        ("--cluster", "tcp://10.0.0.1:8786"),
    ],
)
def test_what_is_not_offered_is_refused_in_one_sentence(capsys, tmp_path, city, more):
    code, out, err = run(capsys, *arguments(city, tmp_path / "forest.safetensors"), *more)
    assert code == 2
    assert out == ""
    assert err.strip()
    assert "Traceback" not in err
    assert not (tmp_path / "forest.safetensors").exists()
