"""Many reports from one home: with and without memory, with and without decoys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.robust import robust
from geocorgi.lab.attack.home import Attack, Habit, holes_of, one_report_accuracy
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
from geocorgi.lab.mechanism import DELTA, GAP, shares_of
from geocorgi.matrix.prunable import Rows

EPSILON_PER_KM = 5.0
DAYS, QUICK_DAYS = (1, 3, 10, 30, 100, 300), (1, 10)
TRIALS, QUICK_TRIALS = 400, 20
OTHER_PLACES = 5
HABITS = {
    "every report drawn anew": Habit(memory=False, pruned=0),
    "remembered": Habit(memory=True, pruned=0),
    "home pruned, drawn anew": Habit(memory=False, pruned=1),
    "home pruned, remembered": Habit(memory=True, pruned=1),
    "home and decoys pruned, drawn anew": Habit(memory=False, pruned=DELTA),
    "home and decoys pruned, remembered": Habit(memory=True, pruned=DELTA),
}


def cases(setting: Setting) -> Sequence[Parameters]:
    """Return a case for every city."""
    return [{"city": city} for city in setting.cities]


def measure(parameters: Parameters, setting: Setting) -> list[Row]:
    """Attack users of every habit for some days, on a matrix certified for the pruning."""
    city = city_of(str(parameters["city"]), setting)
    leaves = city.busiest_subtree.leaves[: 14 if setting.quick else None]
    problem = instance(city, leaves, EPSILON_PER_KM, setting.seed)
    shares = shares_of(robust(problem, DELTA, Rows.KEEP, Limits(GAP)).sealed.weights)
    days = QUICK_DAYS if setting.quick else DAYS
    rows: list[Row] = []
    for at, (name, habit) in enumerate(HABITS.items()):
        holes = holes_of(shares, habit.pruned) if habit.pruned else None
        attack = Attack(shares, problem.priors, habit, holes, OTHER_PLACES)
        for count in days:
            chance = np.random.default_rng([setting.seed, at, count])
            found = attack.success(count, QUICK_TRIALS if setting.quick else TRIALS, chance)
            rows.append(
                parameters
                | {"habit": name, "days": count, "found": found.rate, "low": found.low,
                   "high": found.high, "one_report": one_report_accuracy(shares, problem.priors),
                   "no_report": float(problem.priors.max())}
            )  # fmt: skip
    return rows


def panels(rows: list[Row]) -> list[Panel]:
    """Draw how often the home is found over the days, for every city."""
    return [
        Panel(f"{city}, ε = {EPSILON_PER_KM:g} per km", "days, one report from home a day",
              "homes found",
              [Series(name, *grouped_means(where(rows, city=city, habit=name), "days", "found"))
               for name in HABITS], log_x=True)
        for city in dict.fromkeys(row["city"] for row in rows)
    ]  # fmt: skip


def findings(rows: list[Row]) -> list[str]:
    """Say what the longest history gives away."""
    said = []
    for city in dict.fromkeys(row["city"] for row in rows):
        here = where(rows, city=city)
        last = max(numbers(here, "days"))
        listed = "; ".join(
            f"{row['habit']} {number(row, 'found'):.0%} ({number(row, 'low'):.0%} to "
            f"{number(row, 'high'):.0%})"
            for row in where(here, days=int(last))
        )
        said.append(
            f"{city}: after {last:.0f} days the home is found in: {listed}. One report finds "
            f"{number(here[0], 'one_report'):.0%} exactly, knowing the prior alone "
            f"{number(here[0], 'no_report'):.0%}."
        )
    return said


REPETITION = Experiment(
    "repetition",
    "Many reports against one home",
    f"An adversary who knows matrix and prior, and from where every report was sent but those from "
    f"home; a report a day from home and one from one of {OTHER_PLACES} other places; ours (keep, "
    f"δ = {DELTA}), busiest subtree; {TRIALS} users each, 95 % intervals.",
    cases,
    measure,
    panels,
    findings,
)
