"""Peers in one run: qif and HiGHS on the whole program beside ours, timed and audited."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geocorgi.errors import GenerationFailed
from geocorgi.generate.exact import exact
from geocorgi.generate.generated import Generated
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.paper import paper_full
from geocorgi.generate.problem import ObfuscationProblem
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
from geocorgi.lab.instance import instance, nearest_leaves
from geocorgi.lab.qif_door import by_qif, has_qif

SIZES, QUICK_SIZES = (25, 49, 64), (7,)
EPSILONS, QUICK_EPSILONS = (5, 15), (5,)
GAP = 1e-6
OURS, HIGHS, QIF = "ours", "HiGHS", "qif"
MAKERS: dict[str, Callable[[ObfuscationProblem], Generated]] = {
    OURS: lambda problem: exact(problem, Limits(GAP)),
    HIGHS: paper_full,
    QIF: by_qif,
}
ABSENT, FAILED, DONE = "not installed", "failed", "done"


def cases(setting: Setting) -> Sequence[Parameters]:
    """Return a case for every K, ε and peer."""
    sizes = QUICK_SIZES if setting.quick else SIZES
    epsilons = QUICK_EPSILONS if setting.quick else EPSILONS
    return [
        {"places": size, "epsilon_per_km": epsilon, "by": peer, "installed": _installed(peer)}
        for size in sizes
        for epsilon in epsilons
        for peer in MAKERS
    ]


def _installed(peer: str) -> int:
    return int(peer != QIF or has_qif())


def measure(parameters: Parameters, setting: Setting) -> list[Row]:
    """Solve, time and audit; a peer that is absent or fails is said."""
    if not parameters["installed"]:
        return [parameters | {"outcome": ABSENT}]
    city = city_of(setting.city, setting)
    leaves = nearest_leaves(city, int(number(parameters, "places")))
    problem = instance(city, leaves, number(parameters, "epsilon_per_km"), setting.seed)
    try:
        found = MAKERS[str(parameters["by"])](problem)
    except GenerationFailed:
        return [parameters | {"outcome": FAILED}]
    return [
        parameters
        | {
            "outcome": DONE,
            "method": found.evidence.method,
            "seconds": found.evidence.seconds,
            "loss_km": found.loss_km,
            "lower_bound_km": found.evidence.lower_bound_km,
            "holds": int(found.audit.holds),
            "true_epsilon_per_km": found.audit.smallest_epsilon_per_km,
            "violations": found.audit.violations,
        }
    ]


def panels(rows: list[Row]) -> list[Panel]:
    """Draw seconds over K, for each ε."""
    done = where(rows, outcome=DONE)
    return [
        Panel(f"ε = {epsilon:g} per km, all pairs", "K", "seconds",
              [Series(peer, *grouped_means(where(done, epsilon_per_km=int(epsilon), by=peer),
                                           "places", "seconds")) for peer in MAKERS], log_y=True)
        for epsilon in sorted(set(numbers(done, "epsilon_per_km")))
    ]  # fmt: skip


def findings(rows: list[Row]) -> list[str]:
    """Say how long each takes beside ours, whose loss is least, and whose matrix holds."""
    said = [_beside(rows, peer) for peer in (HIGHS, QIF)]
    ours = where(rows, by=OURS)
    holding = sum(number(row, "holds") == 1 for row in ours)
    said.append(
        f"Ours holds in {holding} of {len(ours)} cases, each proved within {GAP:g} of the optimum."
    )
    return said


def _beside(rows: list[Row], peer: str) -> str:
    theirs = where(rows, by=peer)
    if all(row["outcome"] == ABSENT for row in theirs):
        return f"{peer} is not installed here: its rows are left out (pip install {peer})."
    done = where(theirs, outcome=DONE)
    if not done:
        return f"{peer} fails in all {len(theirs)} cases."
    ratios, losses = [], []
    for row in done:
        (ours,) = where(rows, by=OURS, places=row["places"], epsilon_per_km=row["epsilon_per_km"])
        ratios.append(number(row, "seconds") / number(ours, "seconds"))
        losses.append(number(row, "loss_km") / number(ours, "loss_km") - 1)
    holding = sum(number(row, "holds") == 1 for row in done)
    return (
        f"{peer} takes {min(ratios):.2g} to {max(ratios):.2g} times as long as ours on the same "
        f"instances, its loss differs from ours by {min(losses):+.1e} to {max(losses):+.1e} of it, "
        f"and its matrix keeps ε by the exact audit in {holding} of {len(done)} cases"
        f"{_failures(theirs)}."
    )


def _failures(rows: list[Row]) -> str:
    failed = len(where(rows, outcome=FAILED))
    return f"; in {failed} more it finds none" if failed else ""


PEERS = Experiment(
    "peers",
    "Peers: qif and HiGHS on the whole program",
    "The optimum over all pairs and true distances, K = 25, 49 and 64 leaves nearest to the "
    "middle, seconds from a built problem to a matrix, audited exactly.",
    cases,
    measure,
    panels,
    findings,
    alone=True,
)
