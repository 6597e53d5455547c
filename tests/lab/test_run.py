"""Every experiment runs, resumes, and can be written up."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from xml.etree import ElementTree as Xml  # noqa: ICN001 - our own figures

import polars as pl
import pytest

from geocorgi.lab import run as running
from geocorgi.lab.experiment import Setting
from geocorgi.lab.experiments import EXPERIMENTS, experiment_of
from geocorgi.lab.outcome import write_outcome
from geocorgi.lab.paper.policies import POLICIES
from tests.lab.command import said
from tests.lab.instances import QUICK


def TELL(*_):  # noqa: N802 - a constant function
    """Tell nobody how far a run is."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Run all experiments, quickly, once, whichever test process comes first."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    out, done = folder / "everything", folder / "everything.done"
    try:
        out.mkdir()
    except FileExistsError:
        for _ in range(3_000):
            if done.exists():
                return out
            time.sleep(0.1)
        pytest.fail("the other process never finished the quick run")
    for experiment in EXPERIMENTS:
        write_outcome(running.measured(experiment, QUICK, out, TELL), QUICK, out)
    done.touch()
    return out


def test_every_experiment_leaves_a_table_a_figure_and_findings(everything):
    for experiment in EXPERIMENTS:
        with (everything / f"{experiment.name}.csv").open(encoding="utf-8") as table:
            assert next(iter(csv.DictReader(table)))
        account = json.loads((everything / f"{experiment.name}.json").read_text(encoding="utf-8"))
        assert account["findings"]
        assert account["command"].startswith(f"geocorgi-lab run {experiment.name} --quick")
        figure = (everything / f"{experiment.name}.svg").read_text(encoding="utf-8")
        assert Xml.fromstring(figure).tag.endswith("svg")  # noqa: S314
        assert account["command"] in figure
        assert len(figure) < 150_000
        assert (everything / f"{experiment.name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_is_the_same_as_csv_and_as_parquet(everything):
    for experiment in EXPERIMENTS:
        with (everything / f"{experiment.name}.csv").open(encoding="utf-8") as table:
            written = list(csv.DictReader(table))
        frame = pl.read_parquet(everything / f"{experiment.name}.parquet")
        assert frame.columns == list(written[0])
        for row, kept in zip(written, frame.to_dicts(), strict=True):
            for name, text in row.items():
                value = kept[name]
                if text == "" or isinstance(value, str):
                    assert text == (value or "")
                else:
                    assert float(text) == pytest.approx(value, rel=1e-9)


def test_a_second_run_measures_nothing_again_and_leaves_the_same_bytes(
    everything, capsys, monkeypatch
):
    monkeypatch.setattr(running, "_measure", lambda _: pytest.fail("measured again"))
    for experiment in EXPERIMENTS:
        found = running.measured(experiment, QUICK, everything, TELL)
        assert found.resumed == len(experiment.cases(QUICK))
    names = [f"convergence.{suffix}" for suffix in ("csv", "svg", "png")]
    before = {name: (everything / name).read_bytes() for name in names}
    outcome = said(capsys, "run", "convergence", "--quick", "--out", everything)
    assert outcome.code == 0, outcome.err
    assert before == {name: (everything / name).read_bytes() for name in names}


def test_the_page_has_every_claim_and_every_figure(everything, capsys):
    page, figures = everything / "docs" / "reproduction.md", everything / "docs" / "figures"
    page.parent.mkdir()
    outcome = said(capsys, "document", everything, "--to", page, "--figures", figures)
    assert outcome.code == 0, outcome.err
    text = page.read_text(encoding="utf-8")
    for experiment in EXPERIMENTS:
        account = json.loads((everything / f"{experiment.name}.json").read_text(encoding="utf-8"))
        copied = (figures / f"{experiment.name}.svg").read_bytes()
        assert copied == (everything / f"{experiment.name}.svg").read_bytes()
        after_figure = text.partition(f"](figures/{experiment.name}.svg)\n\n")[2]
        assert after_figure.startswith(f"`{account['command']}` makes this again")
        for claim in account["claims"]:
            line = f"| {claim['place']} | {claim['paper']} | {claim['papers_method']} | "
            assert line.replace("\n", " ") in text
        for finding in account["findings"]:
            assert f"- {finding}\n" in text


PAPERS_NUMBERS = (
    "38,523", "343 leaves", "O(K³)", "O(12 × K²)", "d_G ≤ d", "exponential in δ", "Eq. 14",
    "4 iterations", "92.34%", "54.58%", "ε from 15 to 20", "δ from 1 to 5", "14.28%", "3.07%",
    "18.58%", "higher δ", "level 3 is higher", "0.000073%", "Prop. 4.6",
    "minimal loss",
)  # fmt: skip


def test_the_papers_numbers_are_all_judged(everything):
    claims = []
    for experiment in EXPERIMENTS:
        account = (everything / f"{experiment.name}.json").read_text(encoding="utf-8")
        claims += json.loads(account)["claims"]
    for number in PAPERS_NUMBERS:
        judged = [c for c in claims if number in c["paper"] or number in c["place"]]
        assert judged, number
    for claim in claims:
        assert claim["verdict"].startswith(("reproduced", "in part", "not "))
        assert claim["papers_method"]
        assert claim["ours"]


def test_no_table_that_counts_people_is_copied(everything, tmp_path, capsys):
    page = tmp_path / "page.md"
    said(capsys, "document", everything, "--to", page, "--figures", tmp_path / "figures")
    assert (tmp_path / "figures" / "policies.svg").exists()
    assert not (tmp_path / "figures" / "policies.csv").exists()
    assert "policies.csv" not in page.read_text(encoding="utf-8")
    assert POLICIES.about_people


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    experiment, setting = experiment_of("convergence"), Setting(quick=True)
    measure, done = running._measure, []

    def interrupted(case):
        if done:
            raise KeyboardInterrupt
        done.append(case)
        measure(case)

    monkeypatch.setattr(running, "_measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.measured(experiment, setting, tmp_path, lambda *_: None)
    monkeypatch.setattr(running, "_measure", measure)
    found = running.measured(experiment, setting, tmp_path, lambda *_: None)
    assert found.resumed == 1
    assert {row["delta"] for row in found.rows} == {2, 4}


def test_a_run_that_is_killed_keeps_what_it_had(everything, tmp_path):
    words = [sys.executable, "-m", "geocorgi.lab.cli", "run", "convergence", "--quick"]
    words += ["--out", str(tmp_path)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not [*tmp_path.glob(".cases/*.json")]:
            time.sleep(0.01)
        process.kill()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob(".cases/*.json")}
    assert kept
    subprocess.run(words, check=True, capture_output=True)
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    for name in ("convergence.csv", "convergence.svg"):
        assert (tmp_path / name).read_bytes() == (everything / name).read_bytes()


def test_another_seed_and_other_check_ins_are_other_cases(tmp_path):
    experiment = experiment_of("convergence")
    given = experiment.cases(QUICK)[0]
    (tmp_path / "a.txt").write_text("more", encoding="utf-8")
    settings = (Setting(quick=True, seed=1), Setting(quick=True, seed=2),
                Setting(quick=False, seed=1), Setting(tmp_path, quick=True, seed=1))  # fmt: skip
    paths = {running._case(experiment, given, setting, tmp_path).path for setting in settings}
    assert len(paths) == 4


def test_what_other_code_measured_is_measured_anew_unless_told_to_keep(tmp_path, monkeypatch):
    experiment, count = experiment_of("foundations"), []
    measure = running._measure
    monkeypatch.setattr(running, "_measure", lambda case: (count.append(case), measure(case)))
    cases = len(experiment.cases(QUICK))
    for code, keep, expected, older in (
        ("one", False, cases, 0), ("one", False, 0, 0), ("two", True, 0, cases),
        ("two", False, cases, 0),
    ):  # fmt: skip
        count.clear()
        monkeypatch.setattr(running, "_code", lambda code=code: code)
        found = running.measured(experiment, QUICK, tmp_path, TELL, running.Running(keep=keep))
        assert (len(count), found.older) == (expected, older)


def test_an_unknown_experiment_and_an_empty_folder_are_refused_in_one_sentence(capsys, tmp_path):
    unknown = said(capsys, "run", "nothing", "--out", tmp_path)
    assert unknown.code == 2
    assert "there is no experiment 'nothing'" in unknown.err
    empty = said(capsys, "document", tmp_path)
    assert empty.code == 2
    assert "holds no results" in empty.err
    nowhere = said(capsys, "run", "convergence", "--data", tmp_path / "no", "--out", tmp_path)
    assert nowhere.code == 2
    assert len(nowhere.err.strip().splitlines()) == 1
