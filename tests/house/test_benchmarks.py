"""The benchmarks run, and their page says how it was made. No test asserts a speed."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from xml.etree import ElementTree as Xml  # noqa: ICN001 - our own figure

import pytest

from tests.conftest import REPOSITORY

PROGRAMS = (
    "audit.py",
    "document.py",
    "engine.py",
    "protect.py",
    "reader.py",
    "robust.py",
    "server.py",
)
PAGE = REPOSITORY / "docs" / "benchmarks.md"
FIGURE = REPOSITORY / "docs" / "figures" / "growth.svg"


def answered(program: str, *options: str) -> str:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / program), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_benchmark_says_how_it_is_used(program):
    assert "usage:" in answered(program, "--help")


def test_every_benchmark_with_a_command_line_is_tested():
    programs = {
        path.name
        for path in (REPOSITORY / "benchmarks").glob("*.py")
        if "ArgumentParser" in path.read_text(encoding="utf-8")
    }
    assert programs == set(PROGRAMS)


def test_the_engine_measures_a_few_small_instances_and_answers_in_json(tmp_path):
    nothing = str(tmp_path / "no-such-file")
    result = json.loads(
        answered("engine.py", "--json", "--prior", nothing, "--only", "k7-*", "--only", "k49-*-15")
    )
    assert [row["name"] for row in result["instances"]] == [
        "k7-uniform-5",
        "k7-uniform-15",
        "k49-uniform-15",
    ]
    for row in result["instances"]:
        assert row["lower_bound_km"] <= row["loss_km"] <= row["lower_bound_km"] * (1 + 1e-6)
        assert row["audit"]["holds"]
        assert row["peak_mb"] > 1
    assert result["failed"] == []
    assert result["skipped"] == ["k49-gowalla-15: no file no-such-file"]


def test_the_release_is_measured_beside_a_bare_pass():
    result = json.loads(answered("protect.py", "--json", "--rows", "300"))
    releases = [row for row in result["results"] if row["rows"]]
    assert [row["rows"]["rows"] for row in releases] == [300] * 4
    assert [row["rows"]["fresh_draws"] == 0 for row in releases] == [False, True] * 2


@pytest.fixture
def document(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "benchmarks"))
    return importlib.import_module("document")


def test_an_interrupted_run_goes_on_where_it_was(document, monkeypatch, tmp_path):
    asked = []

    def measured(command):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(command)
        return {"result": [], "seconds": 1.0, "others": None}

    monkeypatch.setattr(document, "measured", measured)
    kept = tmp_path / "kept" / "run.json"
    with pytest.raises(KeyboardInterrupt):
        document.finish(document.begun(kept, afresh=False), kept)
    names = list(document.steps())
    assert list(document.begun(kept, afresh=False)["steps"]) == names[:2]
    assert document.begun(kept, afresh=True)["steps"] == {}
    monkeypatch.setattr(document, "machine", lambda: {"processor": "another"})
    assert document.begun(kept, afresh=False)["steps"] == {}


def test_nothing_but_a_run_is_in_the_page(document):
    no_row = {"instances": [], "comparisons": [], "skipped": [], "failed": []}
    measured = {"result": no_row, "seconds": 60.0, "others": 0.5}
    run = {"machine": document.machine(), "steps": {"k7-uniform-5": measured}}
    page = document.page(run)
    assert "| `engine` | 1.0 | 50% |" in page
    assert "The machine had other work at the time" in page


def test_a_robust_row_is_measured_and_kept_and_written_up(tmp_path):
    kept = tmp_path / "run.json"
    only = ["--only", "ours-uniform-drop-20-1", "--only", "paper-uniform-20-1"]
    run = json.loads(answered("robust.py", "--json", *only, "--to", str(kept)))
    ours, papers = run["rows"]["ours-uniform-drop-20-1"], run["rows"]["paper-uniform-20-1"]
    assert ours["holds"]
    assert ours["loss_km"] < papers["loss_km"] < ours["universal_km"]
    assert ours["violated"][0] == 0 < papers["rows"]["keep"]["true_epsilon_per_km"]
    assert json.loads(kept.read_text())["rows"] == run["rows"]
    again = json.loads(answered("robust.py", "--json", *only, "--to", str(kept)))
    assert again["rows"] == run["rows"]
    written = answered("robust.py", "--print", "--to", str(kept))
    assert "| 20 | 1 |" in written
    assert "Not measured" in written


def test_the_services_page_says_how_it_was_made():
    page = (REPOSITORY / "docs" / "benchmarks-server.md").read_text(encoding="utf-8")
    assert "Made by `make bench-server`" in page
    for heading in ("Under load", "A whole catalogue"):
        assert f"## {heading}\n" in page


@pytest.mark.slow
@pytest.mark.needs("wrk")
def test_the_service_is_measured_and_makes_no_errors():
    options = ("--rounds", "1", "--seconds", "3", "--catalogue", "--entries", "2", "--json")
    run = json.loads(answered("server.py", *options))
    assert (run["load"]["steady"]["errors"], run["load"]["steady"]["not_good"]) == (0, 0)
    assert run["load"]["throughput"]["ratio"] > 0
    assert [one["delta"] for one in run["catalogue"]["forests"]] == [0, 2]


@pytest.mark.slow
def test_the_engines_quick_set_runs():
    result = json.loads(answered("engine.py", "--quick", "--json"))
    assert len(result["instances"]) + len(result["skipped"]) == 6


def test_the_page_says_how_it_was_made():
    page = PAGE.read_text(encoding="utf-8")
    assert "make bench-docs" in page
    assert "figures/growth.svg" in page
    for heading in ("The machine", "The engine", "How it grows", "Beside others", "What we found"):
        assert f"## {heading}\n" in page


def test_the_page_of_robust_matrices_says_how_it_was_made_and_names_what_it_lacks():
    page = (REPOSITORY / "docs" / "robust.md").read_text(encoding="utf-8")
    assert "make robust-docs" in page
    for heading in ("The machine", "Losses to reach", "Seconds to keep to"):
        assert f"## {heading}\n" in page
    assert "**fails**" not in page
    assert "Up to δ ours broke 0 times" in page


def test_the_figure_is_a_picture_for_light_and_dark_pages():
    text = FIGURE.read_text(encoding="utf-8")
    assert Xml.fromstring(text).tag.endswith("svg")  # noqa: S314
    assert "prefers-color-scheme: dark" in text
