"""What an experiment is: cases to measure, and what to show, to find and to claim of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from geocorgi.lab.chart import Panel

Cell = float | int | str | None
Row = dict[str, Cell]
Parameters = dict[str, Cell]
SEED = 2023


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for a whole run: where the check-ins are, how much is done, whose chance it is."""

    data: Path | None = None
    quick: bool = False
    seed: int = SEED

    @property
    def city(self) -> str:
        """The city of the paper's experiments: its own where its data are, else the made-up one."""
        return "synthetic" if self.data is None else "san-francisco"

    @property
    def cities(self) -> tuple[str, ...]:
        """All cities that there are data of."""
        return ("synthetic",) if self.data is None else ("synthetic", "san-francisco", "new-york")


@dataclass(frozen=True, slots=True)
class Claim:
    """A quantitative claim of the paper beside what was measured."""

    place: str
    paper: str
    papers_method: str
    ours: str
    verdict: str
    why: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment: ``measure`` is a function of a case alone, so that cases can be resumed.

    ``alone`` says that it measures time, so that nothing else of the laboratory runs beside it;
    ``about_people`` that its table counts people, so that it stays where it was made.
    """

    name: str
    title: str
    question: str
    cases: Callable[[Setting], Sequence[Parameters]]
    measure: Callable[[Parameters, Setting], list[Row]]
    panels: Callable[[list[Row]], list[Panel]]
    findings: Callable[[list[Row]], list[str]]
    claims: Callable[[list[Row]], list[Claim]] | None = None
    alone: bool = False
    about_people: bool = False


def where(rows: list[Row], **wanted: Cell) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def number(row: Row, name: str) -> float:
    """Return a number of a row; an empty cell is infinite."""
    value = row[name]
    return float("inf") if value is None else float(value)


def numbers(rows: list[Row], name: str) -> list[float]:
    """Return a column of numbers; an empty cell is infinite."""
    return [number(row, name) for row in rows]


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def grouped_means(rows: list[Row], by: str, value: str) -> tuple[list[float], list[float]]:
    """Return the different numbers of one column, ascending, and the means of another for each."""
    keys = sorted({number(row, by) for row in rows})
    return keys, [mean(numbers([r for r in rows if number(r, by) == key], value)) for key in keys]
