"""What an adversary sees of each mechanism, and what each costs at equal true guarantee.

The guarantee on the axis is measured, not claimed: the smallest ε at which the auditor finds the
matrix private, as it is and after the worst pruning of up to three cells. So mechanisms that waste
what they were given, or do not keep what they promise, stand where they belong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from geocorgi.errors import InvalidMatrix
from geocorgi.lab.attack.bayes import Floats, view_before, view_of
from geocorgi.lab.attack.undesirable import undesirable_share, undesirable_share_pruned
from geocorgi.lab.chart import Panel, Series
from geocorgi.lab.city import city_of
from geocorgi.lab.experiment import (
    Experiment,
    Parameters,
    Row,
    Setting,
    number,
    numbers,
    where,
)
from geocorgi.lab.instance import instance
from geocorgi.lab.mechanism import DELTA, MECHANISMS, Mechanism, mechanism_of, shares_of
from geocorgi.matrix.geo_ind import smallest_epsilon
from geocorgi.matrix.log_ratios import Weights
from geocorgi.matrix.prunable import Rows, certify
from geocorgi.tree import distances

EPSILONS, QUICK_EPSILONS = (2, 5, 10, 15), (5, 15)
MORE_EPSILONS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)  # for what is made in no time
UNPRUNED, DROPPED, KEPT = "true_epsilon_per_km", "drop_epsilon_per_km", "keep_epsilon_per_km"
FEWEST_POINTS = 2


def cases(setting: Setting) -> Sequence[Parameters]:
    """Return a case for every city, mechanism and ε."""
    return [
        {"city": city, "mechanism": mechanism.name, "epsilon_per_km": epsilon}
        for city in setting.cities
        for mechanism in MECHANISMS
        for epsilon in _epsilons(mechanism, setting)
    ]


def _epsilons(mechanism: Mechanism, setting: Setting) -> Sequence[int]:
    if setting.quick:
        return QUICK_EPSILONS
    return EPSILONS if mechanism.slow else MORE_EPSILONS


def measure(parameters: Parameters, setting: Setting) -> list[Row]:
    """Make one matrix and look at it as an adversary, a service and an auditor do."""
    city = city_of(str(parameters["city"]), setting)
    leaves = city.busiest_subtree.leaves[: 7 if setting.quick else None]
    problem = instance(city, leaves, number(parameters, "epsilon_per_km"), setting.seed)
    mechanism = mechanism_of(str(parameters["mechanism"]))
    weights = mechanism.make(problem)
    shares = shares_of(weights)
    table = distances.between_cells(leaves)
    view, before = view_of(shares, problem.priors, table), view_before(problem.priors, table)
    return [
        parameters
        | {
            "loss_km": float((problem.costs * shares).sum()),
            UNPRUNED: smallest_epsilon(weights, table),
            DROPPED: _after_pruning(weights, table, Rows.DROP),
            KEPT: _after_pruning(weights, table, Rows.KEEP),
            "adversary_error_km": view.error_km,
            "adversary_error_before_km": before.error_km,
            "likeliest_cell_accuracy": view.accuracy,
            "accuracy_before": before.accuracy,
            "entropy_bits": view.entropy_bits,
            "entropy_before_bits": before.entropy_bits,
            "reports_of_the_true_cell": float(problem.priors @ np.diagonal(shares)),
            "undesirable_reports": undesirable_share(shares, problem.priors),
            "undesirable_reports_pruned": _undesirable_pruned(shares, problem.priors, mechanism),
        }
    ]


def _undesirable_pruned(shares: Floats, prior: Floats, mechanism: Mechanism) -> float | None:
    """Return the share after pruning, where the mechanism is made to be pruned."""
    if mechanism.pruned is None:
        return None
    return undesirable_share_pruned(shares, prior, DELTA, mechanism.pruned)


def _after_pruning(weights: Weights, table: distances.Table, rows: Rows) -> float:
    """Return the smallest ε after the worst pruning of three cells; infinite if a row may empty."""
    try:
        return certify(weights, table, 1.0, DELTA, rows).smallest_epsilon_per_km
    except InvalidMatrix:
        return math.inf


def panels(rows: list[Row]) -> list[Panel]:
    """Draw loss over the true guarantee, and over the adversary's error, for every city."""
    drawn = []
    for city in dict.fromkeys(row["city"] for row in rows):
        here = where(rows, city=city)
        drawn += [
            _panel(f"{city}: nothing pruned", "true ε (per km)", UNPRUNED, here),
            _panel(f"{city}: any {DELTA} cells pruned, rows dropped", "true ε (per km)",
                   DROPPED, here),
            _panel(f"{city}: any {DELTA} cells pruned, rows kept", "true ε (per km)", KEPT, here),
            _panel(f"{city}: loss for hiding", "adversary's expected error (km)",
                   "adversary_error_km", here),
        ]  # fmt: skip
    return drawn


def _panel(title: str, label: str, by: str, rows: list[Row]) -> Panel:
    series = []
    for mechanism in MECHANISMS:
        points = sorted(_points(rows, mechanism.name, by))
        series.append(Series(mechanism.name, [x for x, _ in points], [y for _, y in points]))
    return Panel(title, label, "quality loss (km)", series, log_y=True)


def _points(rows: list[Row], name: str, by: str) -> list[tuple[float, float]]:
    chosen = where(rows, mechanism=name)
    return [(number(row, by), number(row, "loss_km")) for row in chosen]


def loss_at(rows: list[Row], name: str, by: str, epsilon: float) -> float | None:
    """Return a mechanism's loss at a true guarantee, between its points on the logarithm."""
    points = sorted(point for point in _points(rows, name, by) if math.isfinite(point[0]))
    xs, ys = [x for x, _ in points], [math.log(y) for _, y in points if y > 0]
    if len(xs) < FEWEST_POINTS or len(xs) != len(ys) or not xs[0] <= epsilon <= xs[-1]:
        return None
    return math.exp(float(np.interp(epsilon, xs, ys)))


def findings(rows: list[Row]) -> list[str]:
    """Compare the mechanisms at an equal true guarantee, and say what is given away."""
    said = []
    for city in dict.fromkeys(row["city"] for row in rows):
        here = where(rows, city=city)
        said += [
            sentence
            for by, words in (
                (UNPRUNED, "nothing pruned"),
                (DROPPED, f"any {DELTA} cells pruned, rows dropped"),
                (KEPT, f"any {DELTA} cells pruned, rows kept"),
            )
            if (sentence := _compared(str(city), here, by, words))
        ]
        said.append(_given_away(str(city), here))
    return said


def _compared(city: str, rows: list[Row], by: str, words: str) -> str | None:
    """Name the losses at one true ε, one that most mechanisms' points surround."""
    for epsilon in (5.0, 7.0, 10.0, 4.0, 3.0, 12.0):
        losses = {m.name: loss_at(rows, m.name, by, epsilon) for m in MECHANISMS}
        known = {name: loss for name, loss in losses.items() if loss is not None}
        if len(known) >= FEWEST_POINTS + 1:
            listed = ", ".join(
                f"{name} {1000 * loss:.1f} m"
                for name, loss in sorted(known.items(), key=lambda item: item[1])
            )
            return f"{city}, {words}, loss at a true ε of {epsilon:g} per km: {listed}."
    return None


def _given_away(city: str, rows: list[Row]) -> str:
    epsilon = sorted(numbers(rows, "epsilon_per_km"))[0]
    for wanted in (5, 15):
        if where(rows, epsilon_per_km=wanted):
            epsilon = wanted
            break
    here = where(rows, epsilon_per_km=int(epsilon))
    before = number(here[0], "adversary_error_before_km"), number(here[0], "accuracy_before")
    listed = "; ".join(
        f"{row['mechanism']} {1000 * number(row, 'adversary_error_km'):.0f} m, "
        f"{number(row, 'likeliest_cell_accuracy'):.0%}, {number(row, 'entropy_bits'):.1f} bits, "
        f"{number(row, 'reports_of_the_true_cell'):.0%} true, "
        f"{number(row, 'undesirable_reports'):.1%} undesirable{_pruned(row)}"
        for row in here
    )
    return (
        f"{city}, made at ε = {epsilon:g}: the adversary's expected error, how often the likeliest "
        f"cell is right, what stays unknown, and how many reports name the true cell, and how many "
        f"the user's home or a cell where nobody checks in: {listed}. Without a report: "
        f"{1000 * before[0]:.0f} m, {before[1]:.0%}."
    )


def _pruned(row: Row) -> str:
    if row["undesirable_reports_pruned"] is None:
        return ""
    return f" ({number(row, 'undesirable_reports_pruned'):.1%} with {DELTA} cells pruned)"


ADVERSARY = Experiment(
    "adversary",
    "The adversary's view, and loss at equal true guarantee",
    "The busiest subtree of 49 leaves of each city; all mechanisms at several ε, each placed at "
    "the ε that the exact auditor finds it to keep. Attacks are exact sums over the prior.",
    cases,
    measure,
    panels,
    findings,
)
