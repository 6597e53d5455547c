"""``geocorgi history`` and ``geocorgi budget``: the user sees what was sent and what it cost."""

from __future__ import annotations

import json

import pytest

from geocorgi.device.ledger import Ledger
from geocorgi.device.memory import Terms
from tests.cli.command import said
from tests.wire.maps import LEAVES

POLICY = """
privacy_level = 2
precision_level = 0
[budget]
ceiling_per_km = {ceiling}
period = "24 hours"
"""


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path))
    with Ledger(tmp_path) as ledger:
        for place, recipient in ((0, "weather"), (0, "taxi"), (1, "weather")):
            ledger.report(LEAVES[place], lambda: LEAVES[9], Terms(recipient, 5.0, 8))
    return tmp_path


def test_the_history_lists_what_was_sent_to_whom_and_what_it_cost(data, capsys):
    answer = json.loads(said(capsys, "history", "--json").out)["reports"]
    assert [one["to"] for one in answer] == ["weather", "taxi", "weather"]
    assert [one["epsilon_per_km"] for one in answer] == [5.0, 0.0, 5.0]
    assert [one["kind"] for one in answer] == ["fresh", "remembered", "fresh"]
    only = json.loads(said(capsys, "history", "--to", "taxi", "--json").out)["reports"]
    assert len(only) == 1
    assert "taxi" in said(capsys, "history").out
    assert len(json.loads(said(capsys, "history", "--last", "1", "--json").out)["reports"]) == 1


def test_no_command_says_a_real_place(data, capsys):
    for words in (["history"], ["budget"], ["history", "--json"], ["budget", "--json"]):
        shown = said(capsys, *words)
        assert LEAVES[0] not in shown.out + shown.err
        assert LEAVES[1] not in shown.out + shown.err


def test_erasing_keeps_what_was_spent(data, capsys):
    assert said(capsys, "history", "--erase", "--yes", "--json").code == 0
    assert json.loads(said(capsys, "history", "--json").out)["reports"] == []
    assert "nothing was sent" in said(capsys, "history").out
    assert json.loads(said(capsys, "budget", "--json").out)["spent_per_km"] == 10.0


def test_erasing_asks_first(data, capsys, monkeypatch):
    monkeypatch.setattr("typer.confirm", lambda *_: False)
    code, _, err = said(capsys, "history", "--erase")
    assert (code, "nothing is erased" in err) == (2, True)
    assert len(json.loads(said(capsys, "history", "--json").out)["reports"]) == 3


def test_the_budget_says_what_is_spent_and_that_there_is_room(data, capsys):
    shown = said(capsys, "budget", "--json")
    answer = json.loads(shown.out)
    assert shown.code == 0
    assert (answer["spent_per_km"], answer["fresh_draws"], answer["fits"]) == (10.0, 2, True)
    assert answer["composed_per_km"]["ever"] == 10.0
    assert "no ceiling" in said(capsys, "budget").out


def test_at_the_ceiling_the_exit_code_is_1_and_the_time_is_said(data, capsys):
    policy = data / "policy.toml"  # found in the data folder
    policy.write_text(POLICY.format(ceiling=12.0))
    shown = said(capsys, "budget", "--json")
    assert shown.code == 1, shown.err
    answer = json.loads(shown.out)
    assert answer["ceiling_per_km"] == 12.0
    assert answer["frees_at"] is not None
    assert "for every place alike" in said(capsys, "budget", "--policy", policy).out


def test_a_draw_dearer_than_the_ceiling_never_fits(data, capsys):
    policy = data / "small.toml"
    policy.write_text(POLICY.format(ceiling=1.0))
    assert "no draw ever fits" in said(capsys, "budget", "--policy", policy).out
