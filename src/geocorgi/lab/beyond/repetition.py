"""Many reports from one home: with and without memory, with and without decoys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geocorgi.lab.attack.home import Attack, Floats, Habit, holes_of, one_report_accuracy
from geocorgi.lab.chart import Panel, Series
from geocorgi.lab.city import city_of
from geocorgi.lab.experiment import (
    Experiment,
    Parameters,
    Row,
    Setting,
    grouped_means,
    number,
    numbers,
    where,
)
from geocorgi.lab.instance import instance
from geocorgi.lab.mechanism import DELTA, MECHANISMS, OURS_KEEP, mechanism_of, shares_of

EPSILON_PER_KM = 5.0
DAYS, QUICK_DAYS = (1, 3, 10, 30, 100, 300), (1, 10)
TRIALS, QUICK_TRIALS = 400, 20
OTHER_PLACES = 5
ANEW, REMEMBERED = "every report drawn anew", "remembered"
PLAIN = {ANEW: Habit(memory=False, pruned=0), REMEMBERED: Habit(memory=True, pruned=0)}
HABITS = PLAIN | {
    "home pruned, drawn anew": Habit(memory=False, pruned=1),
    "home pruned, remembered": Habit(memory=True, pruned=1),
    "home and decoys pruned, drawn anew": Habit(memory=False, pruned=DELTA),
    "home and decoys pruned, remembered": Habit(memory=True, pruned=DELTA),
}


def cases(setting: Setting) -> Sequence[Parameters]:
    """Return a case for every city and mechanism."""
    return [
        {"city": city, "mechanism": mechanism.name}
        for city in setting.cities
        for mechanism in MECHANISMS
    ]


def measure(parameters: Parameters, setting: Setting) -> list[Row]:
    """Attack users of every habit for some days, on one matrix.

    Cells are pruned only from the matrix that is certified for users who stand in them.
    """
    city, name = city_of(str(parameters["city"]), setting), str(parameters["mechanism"])
    leaves = city.busiest_subtree.leaves[: 14 if setting.quick else None]
    problem = instance(city, leaves, EPSILON_PER_KM, setting.seed)
    shares = shares_of(mechanism_of(name).make(problem))
    rows: list[Row] = []
    for at, habit in enumerate(HABITS if name == OURS_KEEP else PLAIN):
        known = parameters | {
            "habit": habit,
            "one_report": one_report_accuracy(shares, problem.priors),
            "no_report": float(problem.priors.max()),
        }
        rows += [known | found for found in _attacked(shares, problem.priors, at, setting)]
    return rows


def _attacked(shares: Floats, priors: Floats, at: int, setting: Setting) -> list[Row]:
    """Return how often homes are found over the days, of users of one habit."""
    habit = list(HABITS.values())[at]
    holes = holes_of(shares, habit.pruned) if habit.pruned else None
    attack = Attack(shares, priors, habit, holes, OTHER_PLACES)
    rows: list[Row] = []
    for days in QUICK_DAYS if setting.quick else DAYS:
        chance = np.random.default_rng([setting.seed, at, days])
        found = attack.success(days, QUICK_TRIALS if setting.quick else TRIALS, chance)
        rows.append({"days": days, "found": found.rate, "low": found.low, "high": found.high})
    return rows


def panels(rows: list[Row]) -> list[Panel]:
    """Draw how often the home is found over the days: by habit, and by mechanism."""
    labels = "days, one report from home a day", "homes found"
    drawn = []
    for city in dict.fromkeys(row["city"] for row in rows):
        here = where(rows, city=city)
        ours = where(here, mechanism=OURS_KEEP)
        habits = [Series(name, *_over_days(where(ours, habit=name))) for name in HABITS]
        mechanisms = [
            Series(mechanism.name,
                   *_over_days(where(here, habit=ANEW, mechanism=mechanism.name)))
            for mechanism in MECHANISMS
        ]  # fmt: skip
        drawn += [
            Panel(f"{city}: {OURS_KEEP}, ε = {EPSILON_PER_KM:g} per km", *labels, habits,
                  log_x=True),
            Panel(f"{city}: {ANEW}", *labels, mechanisms, log_x=True),
        ]  # fmt: skip
    return drawn


def _over_days(rows: list[Row]) -> tuple[list[float], list[float]]:
    return grouped_means(rows, "days", "found")


def findings(rows: list[Row]) -> list[str]:
    """Say what the longest history gives away."""
    last = int(max(numbers(rows, "days")))
    said = []
    for city in dict.fromkeys(row["city"] for row in rows):
        here = where(rows, city=city)
        ours = where(here, mechanism=OURS_KEEP, days=last)
        listed = "; ".join(f"{row['habit']} {_rate(row)}" for row in ours)
        said.append(
            f"{city}: after {last} days the home is found in: {listed} ({OURS_KEEP}). One report "
            f"finds {number(ours[0], 'one_report'):.0%} exactly, knowing the prior alone "
            f"{number(ours[0], 'no_report'):.0%}."
        )
        said.append(f"{city}: after {last} days, nothing pruned: {_by_mechanism(here, last)}.")
    return said


def _by_mechanism(rows: list[Row], days: int) -> str:
    """List how often the home is found with each mechanism, drawn anew and remembered."""
    said = []
    for mechanism in MECHANISMS:
        (anew,), (kept,) = (
            where(rows, mechanism=mechanism.name, habit=habit, days=days)
            for habit in (ANEW, REMEMBERED)
        )
        said.append(
            f"{mechanism.name} {number(anew, 'found'):.0%} drawn anew, {number(kept, 'found'):.0%} "
            "remembered"
        )
    return "; ".join(said)


def _rate(row: Row) -> str:
    return f"{number(row, 'found'):.0%} ({number(row, 'low'):.0%} to {number(row, 'high'):.0%})"


REPETITION = Experiment(
    "repetition",
    "Many reports against one home",
    f"An adversary who knows matrix and prior, and from where every report was sent but those from "
    f"home; a report a day from home and one from one of {OTHER_PLACES} other places; every "
    f"mechanism at ε = {EPSILON_PER_KM:g} per km (pruning: ours, keep, δ = {DELTA}), busiest "
    f"subtree; {TRIALS} users each, 95 % intervals.",
    cases,
    measure,
    panels,
    findings,
)
