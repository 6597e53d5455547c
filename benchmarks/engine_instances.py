"""The instances that benchmarks/engine.py measures, each with the gap and the seconds to reach.

Four trees of leaves of resolution 9 in San Francisco, each inside the next. The targets are
uniform. The priors: "uniform"; "gowalla", the paper's own counts with their order put right
(research data about real people, read from a file that is never part of the project); "city", the
visits to the city that ``geocorgi.synthetic.city`` makes up; "new york", real check-ins again, in
the tree around Times Square.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geocorgi.checkins.counts import leaf_counts
from geocorgi.checkins.readers import read_snap
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells
from geocorgi.synthetic.city import CityPlan, synthetic_city
from geocorgi.tree.cells import ancestor, descendants
from geocorgi.tree.priors import Priors, priors_from_counts, restricted

RESOLUTION = 9
ROOTS = {
    7: "8828308281fffff",
    49: "872830828ffffff",
    64: "86283082fffffff",  # its first 64 leaves: the 49 and 15 beside them
    343: "86283082fffffff",
    2401: "85283083fffffff",
}
TIMES_SQUARE = "862a100d7ffffff"
CITY = CityPlan(ROOTS[2401], "America/Los_Angeles", seed=2401, users=2000)


@dataclass(frozen=True, slots=True)
class Instance:
    """What is to be solved, and how well in how long."""

    name: str
    cells: int
    prior: str
    epsilon_per_km: float
    gap: float
    seconds: float
    peak_mb: float | None = None

    @property
    def time_limit(self) -> float:
        """The seconds after which the engine is asked to stop.

        Half as much again as the goal, when a miss is certain; for the largest with a
        real prior, where it is asked how near one comes in the time, what leaves room for the rest.
        """
        if self.cells == 2401 and self.prior != "uniform":
            return 0.8 * self.seconds
        return max(10.0, 1.5 * self.seconds)


@dataclass(frozen=True, slots=True)
class Files:
    """Where the real check-ins lie, if they do."""

    prior: Path
    points: Path

    def lacks(self, instance: Instance) -> str | None:
        """Return the name of the file that the instance needs and that is not there."""
        needed = {"gowalla": self.prior, "new york": self.points}.get(instance.prior)
        return None if needed is None or needed.is_file() else needed.name


def _uniform(cells: int, epsilon: float, gap: float, seconds: float) -> Instance:
    peak_mb = 8000.0 if cells == 2401 else None
    return Instance(
        f"k{cells}-uniform-{epsilon:g}", cells, "uniform", epsilon, gap, seconds, peak_mb
    )


def _gowalla(cells: int, epsilon: float, gap: float, seconds: float, more: str = "") -> Instance:
    name = f"k{cells}-gowalla-{epsilon:g}{more}"
    return Instance(name, cells, "gowalla", epsilon, gap, seconds)


INSTANCES = (
    *(_uniform(7, epsilon, 1e-6, 0.5) for epsilon in (5, 15)),
    *(_uniform(49, epsilon, 1e-6, 5.0) for epsilon in (1, 2)),
    *(_uniform(49, epsilon, 1e-6, 0.5) for epsilon in (5, 10, 15, 20)),
    *(_gowalla(49, epsilon, 1e-4, 2.0) for epsilon in (1, 2, 5, 10, 15, 20)),
    _uniform(343, 2, 1e-3, 90.0),
    *(_uniform(343, epsilon, 1e-6, 5.0) for epsilon in (5, 10, 15, 20, 30)),
    _gowalla(343, 2, 1e-2, 300.0),
    _gowalla(343, 5, 1e-2, 60.0),
    _gowalla(343, 5, 1e-3, 200.0, "-fine"),
    *(_gowalla(343, epsilon, 1e-3, 30.0) for epsilon in (10, 15)),
    *(_uniform(2401, epsilon, 1e-4, 60.0) for epsilon in (5, 15)),
    *(
        Instance(f"k2401-{name}-{epsilon}", 2401, prior, epsilon, 5e-2, 180.0, 8000.0)
        for name, prior in (("city", "city"), ("newyork", "new york"))
        for epsilon in (5, 15)
    ),
)
QUICK = (
    "k7-uniform-5",
    "k7-uniform-15",
    "k49-uniform-2",
    "k49-uniform-15",
    "k49-gowalla-15",
    "k343-uniform-15",
)

# Ours and HiGHS, both on the paper's own program.
ON_THE_PAPERS_PROGRAM = (
    _uniform(49, 5, 1e-6, 0.5),
    _uniform(49, 15, 1e-6, 0.5),
    _uniform(343, 15, 1e-6, 5.0),
)
# Ours and qif, both over all pairs.
BESIDE_QIF = (
    *(_uniform(49, epsilon, 1e-6, 0.5) for epsilon in (5, 15)),
    *(_gowalla(49, epsilon, 1e-4, 2.0) for epsilon in (5, 15)),
    *(_uniform(64, epsilon, 1e-6, 0.5) for epsilon in (5, 10, 15)),
    *(_gowalla(64, epsilon, 1e-4, 2.0) for epsilon in (5, 15)),
)


def leaves_of(instance: Instance) -> tuple[str, ...]:
    root = ROOTS[instance.cells]
    if instance.prior == "new york":
        root = ancestor(TIMES_SQUARE, 5)
    return descendants(root, RESOLUTION)[: instance.cells]


def priors_of(instance: Instance, leaves: tuple[str, ...], files: Files) -> Priors | None:
    if instance.prior == "gowalla":
        return restricted(_aligned_priors(files.prior), leaves)
    if instance.prior == "new york":
        return priors_from_counts(leaves, leaf_counts(read_snap(files.points), leaves).counts)
    if instance.prior == "city":
        visits = Counter(visit.place.leaf for visit in synthetic_city(CITY).visits)
        return priors_from_counts(leaves, [visits[leaf] for leaf in leaves])
    return None


def _aligned_priors(path: Path) -> Priors:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    weights = np.array([float(row["aligned_prior"]) for row in rows])
    return Priors(tuple(row["h3_res9"] for row in rows), weights)


def problem_of(
    instance: Instance, leaves: tuple[str, ...], priors: Priors | None
) -> ObfuscationProblem:
    return problem_on_cells(leaves, float(instance.epsilon_per_km), priors)
