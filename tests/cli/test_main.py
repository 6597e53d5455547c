"""The command in a shell: exit codes, streams, colours, pipes, tracebacks."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import geocorgi
from tests.cli.command import said, shell

ESCAPE = "\x1b"
Capsys = pytest.CaptureFixture[str]


def test_each_help_has_an_example(capsys: Capsys) -> None:
    for words in (
        ["--help"],
        ["-h"],
        ["tree", "--help"],
        ["audit", "-h"],
        ["report", "-h"],
        ["explain", "-h"],
    ):
        code, out, _ = said(capsys, *words)
        assert code == 0
        assert "Example: geocorgi" in out


def test_the_examples_in_the_help_do_work(capsys: Capsys) -> None:
    assert said(capsys, "tree", "--root", "86283082fffffff", "--height", "3").code == 0
    at = ["--at", "37.77,-122.42", "--root-resolution", "7"]
    code, out, _ = said(capsys, "tree", *at, "--height", "2", "--json")
    assert code == 0
    assert json.loads(out)["trees"][0]["height"] == 2


def test_the_help_says_what_exit_codes_mean(capsys: Capsys) -> None:
    out = said(capsys, "--help").out
    for code in ("0: done", "1: done", "2: refused", "130: interrupted"):
        assert code in out


def test_the_version_is_said(capsys: Capsys) -> None:
    assert said(capsys, "--version") == (0, f"geocorgi {geocorgi.__version__}\n", "")


def test_debug_shows_the_traceback_and_nothing_else_does(capsys: Capsys, tmp_path: Path) -> None:
    quiet = shell(["tree", "--root", "nowhere"], tmp_path)
    assert (quiet.code, quiet.out) == (2, "")
    assert "Traceback" not in quiet.err
    loud = shell(["--debug", "tree", "--root", "nowhere"], tmp_path)
    assert loud.code == 2
    assert "Traceback" in loud.err
    assert "InvalidCell" in loud.err
    assert loud.err.endswith(quiet.err)


def test_a_script_sees_json_and_exit_codes_and_no_warnings(tmp_path: Path) -> None:
    np.savez(tmp_path / "even.npz", matrix=np.full((2, 2), 0.5), distances_km=1 - np.eye(2))
    np.savez(tmp_path / "same.npz", matrix=np.eye(2), distances_km=1 - np.eye(2))
    for name, expected in (("even.npz", 0), ("same.npz", 1), ("none.npz", 2)):
        words = ["audit", name, "--epsilon", "1", "--json"]
        code, out, err = shell(words, tmp_path, "-W", "error")
        assert code == expected
        if code == 2:
            assert out == ""
            assert err == "geocorgi: cannot read none.npz: No such file or directory\n"
        else:
            assert json.loads(out)["holds"] == (code == 0)
            assert err == ""


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_what_goes_into_a_file_has_no_colours(tmp_path: Path, environment: dict[str, str]) -> None:
    np.savez(tmp_path / "same.npz", matrix=np.eye(2), distances_km=1 - np.eye(2))
    for words in (
        ["tree"],
        ["tree", "--list", "2"],
        ["tree", "--height", "99"],
        ["audit", "same.npz", "--epsilon", "1"],
        ["--help"],
    ):
        _, out, err = shell(words, tmp_path, **environment)
        assert out + err
        assert ESCAPE not in out + err


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "geocorgi.cli.main", "tree", "--height", "6", "--list", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()
        process.wait(timeout=60)
    assert len(first) == 16
    assert complaint == b""


def test_a_terminal_without_the_letters_is_no_error(tmp_path: Path) -> None:
    code, out, err = shell(["tree"], tmp_path, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert "km?" in out
    (tmp_path / "é.npz").write_bytes(b"")
    code, out, err = shell(["audit", "é.npz", "--epsilon", "1"], tmp_path, PYTHONIOENCODING="ascii")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "words", [["bogus"], ["tree", "--bogus"], ["tree", "--height", "x"], ["audit"], ["tree", "x"]]
)
def test_a_command_that_makes_no_sense_is_refused_without_a_traceback(
    capsys: Capsys, words: list[str]
) -> None:
    code, out, err = said(capsys, *words)
    assert (code, out) == (2, "")
    assert "Usage: geocorgi" in err
    assert "Traceback" not in err
