"""What benchmarks/robust.py measures: the grid, the filters, what is to be reached and how fast.

The subtree of 49 leaves around San Francisco's ``872830828ffffff``, and the 343 above it. Priors
are "uniform", or "gowalla", the paper's own counts with their order put right (research data about
real people, read from a file that is never part of the project). Targets are uniform.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine_instances import Files, Instance, leaves_of, priors_of
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells
from geocorgi.matrix.prunable import Rows

PRIORS = ("uniform", "gowalla")
EPSILONS = (5.0, 10.0, 15.0, 20.0)
DELTAS = (0, 1, 2, 3, 4, 5, 6, 7, 16, 32)
FILTERED_EPSILONS, FILTERED_DELTAS = (5.0, 15.0), (0, 2, 5)
PASSING = 25
MOST_PRUNED, PRUNINGS = 10, 100


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure; ``what`` is ours, paper or filter."""

    what: str
    prior: str
    epsilon_per_km: float
    delta: int
    rows: Rows | None = None

    @property
    def name(self) -> str:
        """What it is called in the file of a run."""
        rows = f"-{self.rows.value}" if self.rows else ""
        return f"{self.what}-{self.prior}{rows}-{self.epsilon_per_km:g}-{self.delta}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Something that is to be done in so many seconds on two cores, measured alone."""

    name: str
    sentence: str
    seconds: float
    cells: int = 49
    prior: str = "uniform"
    epsilon_per_km: float = 15.0
    delta: int = 5
    rows: Rows = Rows.DROP
    gap: float = 1e-3


CASES = (
    *(
        Case("ours", prior, epsilon, delta, rows)
        for prior in PRIORS
        for rows in Rows
        for epsilon in EPSILONS
        for delta in DELTAS
    ),
    # Algorithm 1 knows nothing of the rows that stay: one matrix, judged both ways.
    *(
        Case("paper", prior, epsilon, delta)
        for prior in PRIORS
        for epsilon in EPSILONS
        for delta in DELTAS
    ),
    *(
        Case("filter", prior, epsilon, delta, rows)
        for prior in PRIORS
        for rows in Rows
        for epsilon in FILTERED_EPSILONS
        for delta in FILTERED_DELTAS
    ),
)

TIMINGS = (
    Timing("robust-49-drop-5", "robust, K = 49, δ = 5, drop, eps 5", 3, epsilon_per_km=5.0),
    Timing("robust-49-drop-15", "robust, K = 49, δ = 5, drop, eps 15", 3),
    Timing(
        "robust-49-keep-5",
        "robust, K = 49, δ = 5, keep, eps 5",
        3,
        epsilon_per_km=5.0,
        rows=Rows.KEEP,
    ),
    Timing("robust-49-keep-15", "robust, K = 49, δ = 5, keep, eps 15", 3, rows=Rows.KEEP),
    Timing("robust-343-drop", "robust, K = 343, δ = 5, drop, uniform, eps 15", 60, cells=343),
    Timing(
        "robust-343-keep",
        "robust, K = 343, δ = 5, keep, uniform, eps 15",
        60,
        cells=343,
        rows=Rows.KEEP,
    ),
    Timing(
        "robust-343-gowalla",
        "robust, K = 343, δ = 5, drop, Gowalla, eps 15, gap 1 %",
        600,
        cells=343,
        prior="gowalla",
        gap=1e-2,
    ),
    Timing("budget-343", "reserved budget (Eq. 12), exact, K = 343, δ = 5", 5, cells=343),
    Timing("prunable-49", "δ-prunability decided, K = 49, δ = 5", 1),
    Timing("prunable-343", "δ-prunability decided, K = 343, δ = 5", 60, cells=343),
    Timing(
        "forest-49-times-7",
        "privacy forest, 7 subtrees of 49, δ = 5, drop, eps 5",
        15,
        cells=343,
        epsilon_per_km=5.0,
    ),
)

QUICK = ("ours-uniform-*-5-5", "paper-uniform-5-5", "*-49", "robust-49-*", "budget-*")

# eps, rows, δ: the loss in km to reach or beat (uniform prior and targets, K = 49).
GOALS = {
    (5.0, Rows.DROP, 1): 0.161,
    (5.0, Rows.DROP, 2): 0.167,
    (5.0, Rows.DROP, 3): 0.172,
    (5.0, Rows.DROP, 5): 0.178,
    (5.0, Rows.DROP, 7): 0.183,
    (15.0, Rows.DROP, 1): 0.00536,
    (15.0, Rows.DROP, 5): 0.00540,
    (15.0, Rows.DROP, 7): 0.00541,
    (5.0, Rows.KEEP, 1): 0.197,
    (5.0, Rows.KEEP, 2): 0.216,
    (5.0, Rows.KEEP, 4): 0.242,
    (15.0, Rows.KEEP, 1): 0.034,
    (15.0, Rows.KEEP, 2): 0.043,
}


def problem_of(
    cells: int,
    prior: str,
    epsilon_per_km: float,
    file: Path,
    reportable: tuple[str, ...] | None = None,
) -> ObfuscationProblem:
    """Return the problem on so many leaves."""
    instance = Instance("", cells, prior, epsilon_per_km, 0.0, 0.0)
    leaves = leaves_of(instance)
    priors = priors_of(instance, leaves, Files(file, file))
    return problem_on_cells(leaves, epsilon_per_km, priors, reportable=reportable)


def passing(problem: ObfuscationProblem) -> tuple[str, ...]:
    """Return what the public filter lets pass: every other leaf, or the most visited ones."""
    order = np.argsort(-problem.priors, kind="stable")
    if np.ptp(problem.priors) == 0:
        order = np.arange(0, len(problem.places), 2)
    kept = {problem.places[at] for at in order[:PASSING]}
    return tuple(place for place in problem.places if place in kept)
