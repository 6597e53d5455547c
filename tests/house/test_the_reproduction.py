"""The page of the reproduction is what its accounts say, and they are what their tables say."""

from __future__ import annotations

import csv

import pytest

from geocorgi.lab.experiments import EXPERIMENTS, experiment_of
from geocorgi.lab.outcome import read_accounts
from geocorgi.lab.page import page
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "reproduction.md"
FIGURES = REPOSITORY / "docs" / "figures" / "reproduction"
NAMES = tuple(experiment.name for experiment in EXPERIMENTS)
ACCOUNTS = {account["name"]: account for account in read_accounts(FIGURES, NAMES)}
TABLES = [name for name in NAMES if (FIGURES / f"{name}.csv").exists()]


def table(name: str) -> list[dict[str, float | str | None]]:
    with (FIGURES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [{key: read(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def read(cell: str) -> float | str | None:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell or None


def test_the_page_is_written_by_the_command_and_by_nobody_else():
    assert page([*ACCOUNTS.values()], FIGURES, PAGE) == PAGE.read_text(encoding="utf-8")


def test_every_experiment_is_on_it():
    assert set(ACCOUNTS) == set(NAMES)
    assert set(NAMES) - set(TABLES) == {e.name for e in EXPERIMENTS if e.about_people}


@pytest.mark.parametrize("name", TABLES)
def test_findings_and_claims_follow_from_the_table(name):
    rows = table(name)
    experiment, account = experiment_of(name), ACCOUNTS[name]
    assert experiment.findings(rows) == account["findings"]
    claims = [] if experiment.claims is None else experiment.claims(rows)
    found = [{field: getattr(claim, field) for field in claim.__slots__} for claim in claims]
    assert found == account["claims"]


def test_the_figures_are_small_and_say_how_to_make_them_again():
    figures = [*FIGURES.glob("*.svg")]
    assert {path.stem for path in figures} == set(NAMES)
    for path in figures:
        assert ACCOUNTS[path.stem]["command"] in path.read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in FIGURES.iterdir()) < 2_000_000
