"""Every experiment runs, resumes, and can be written up."""

from __future__ import annotations

import csv
import json
from xml.etree import ElementTree as Xml  # noqa: ICN001 - our own figures

import pytest

from geocorgi.lab import run as running
from geocorgi.lab.experiment import Setting
from geocorgi.lab.experiments import EXPERIMENTS, experiment_of
from geocorgi.lab.outcome import write_outcome
from tests.lab.command import said


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Run all experiments, quickly, once."""
    out = tmp_path_factory.mktemp("lab")
    setting = Setting(quick=True)
    for experiment in EXPERIMENTS:
        write_outcome(running.measured(experiment, setting, out, lambda *_: None), setting, out)
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


def test_a_second_run_measures_nothing_again_and_leaves_the_same_bytes(
    everything, capsys, monkeypatch
):
    before = {
        path.name: path.read_bytes()
        for path in everything.iterdir()
        if path.suffix in {".csv", ".svg"}
    }
    monkeypatch.setattr(running, "_measure", lambda _: pytest.fail("measured again"))
    outcome = said(capsys, "run", "all", "--quick", "--out", everything)
    assert outcome.code == 0, outcome.err
    assert before == {name: (everything / name).read_bytes() for name in before}


def test_the_page_has_every_claim_and_every_figure(everything, capsys):
    page = everything / "docs" / "reproduction.md"
    page.parent.mkdir()
    assert said(capsys, "document", everything, "--to", page).code == 0
    text = page.read_text(encoding="utf-8")
    for experiment in EXPERIMENTS:
        account = json.loads((everything / f"{experiment.name}.json").read_text(encoding="utf-8"))
        assert f"](../{experiment.name}.svg)" in text
        for claim in account["claims"]:
            assert claim["paper"] in text
    for number in ("92.34%", "54.58%", "3.07%", "18.58%", "0.000073%"):
        assert number in text


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


def test_another_seed_or_other_code_is_measured_anew(tmp_path, monkeypatch):
    experiment = experiment_of("convergence")
    given = experiment.cases(Setting(quick=True))[0]
    paths = {
        running._case(experiment, given, Setting(quick=True, seed=s), tmp_path).path for s in (1, 2)
    }
    monkeypatch.setattr(running, "_code", lambda: "other")
    paths.add(running._case(experiment, given, Setting(quick=True, seed=1), tmp_path).path)
    assert len(paths) == 3


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
