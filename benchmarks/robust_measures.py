"""One row of benchmarks/robust.py: generate, certify, prune at random, count what breaks.

Ours is ``robust``, by default: sealed, certified, or an error. The paper's is Algorithm 1 as
printed, ten rounds, Eq. 14 with the row of its proof and the cap of the authors' code, solved by
our engine on the very same constraints. Violations are counted over all pairs and true distances
among what a pruning leaves, on the same random prunings for both.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_instances import ROOTS
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.privacy_forest import privacy_forest
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import exact_budget
from geocorgi.generate.robust import robust
from geocorgi.generate.robust_paper import PaperSettings, robust_paper
from geocorgi.generate.universal import universal
from geocorgi.matrix.log_ratios import Weights
from geocorgi.matrix.prunable import Rows, certify, own_columns
from geocorgi.matrix.pruning import prune
from geocorgi.seeded import Chance
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import uniform_priors
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap, Settings
from robust_instances import (
    MOST_PRUNED,
    PRUNINGS,
    Case,
    Timing,
    passing,
    problem_of,
)

Json = dict[str, Any]
PAPERS_GAP = 1e-3


def measured_case(case: Case, prior: Path) -> Json:
    """Measure one row of the grid."""
    makers: dict[str, Callable[[Case, Path], Json]] = {
        "ours": _ours,
        "paper": _papers,
        "filter": _filtered,
    }
    return makers[case.what](case, prior)


def _ours(case: Case, prior: Path) -> Json:
    problem = problem_of(49, case.prior, case.epsilon_per_km, prior)
    assert case.rows is not None  # noqa: S101 - ours is made for one way of pruning
    found = robust(problem, case.delta, case.rows)
    return {
        "seconds": found.seconds,
        "loss_km": found.loss_km,
        "bound_at_fixed_reserves_km": found.lower_bound_km,
        "universal_km": universal(problem).loss_km,
        "method": found.method,
        "rounds": len(found.iterations),
        "holds": found.certificate.holds,
        "true_epsilon_per_km": found.certificate.smallest_epsilon_per_km,
        "violated": violated_shares(problem, found.sealed.weights, case.rows),
    }


def _papers(case: Case, prior: Path) -> Json:
    problem = problem_of(49, case.prior, case.epsilon_per_km, prior)
    found = robust_paper(problem, case.delta, limits=Limits(PAPERS_GAP))
    rows = {}
    for way in Rows:
        certificate = certify(
            found.matrix.weights, problem.distances_km, case.epsilon_per_km, case.delta, way
        )
        rows[way.value] = {
            "holds": certificate.holds,
            "true_epsilon_per_km": certificate.smallest_epsilon_per_km,
            "violated": violated_shares(problem, found.matrix.weights, way),
        }
    return {
        "seconds": found.seconds,
        "loss_km": found.loss_km,
        "losses_km": [one.loss_km for one in found.iterations],
        "last_change": found.iterations[-1].change,
        "capped_edges": found.capped_edges,
        "rows": rows,
        "sparing": _sparing(problem, case.delta),
    }


def _sparing(problem: ObfuscationProblem, delta: int) -> Json:
    """Return what becomes of Algorithm 1 if S never holds a row's own cell, which is kinder."""
    found = robust_paper(
        problem, delta, settings=PaperSettings(spares_own=True), limits=Limits(PAPERS_GAP)
    )
    return {
        "loss_km": found.loss_km,
        "holds": found.certificate.holds,
        "true_epsilon_per_km": found.certificate.smallest_epsilon_per_km,
    }


def _filtered(case: Case, prior: Path) -> Json:
    """Keep all rows and report the cells that pass; beside it, prune all others by the user."""
    whole = problem_of(49, case.prior, case.epsilon_per_km, prior)
    stay = passing(whole)
    gone = set(whole.places) - set(stay)
    assert case.rows is not None  # noqa: S101 - a filter is measured for one way of pruning
    few = problem_of(49, case.prior, case.epsilon_per_km, prior, stay)
    filtered = robust(few, case.delta, case.rows)
    pruned = robust(whole, len(gone) + case.delta, case.rows)
    left = prune(pruned.sealed, gone, case.rows)
    return {
        "seconds": filtered.seconds,
        "loss_km": _loss_on(whole, filtered.sealed.weights, left.row_cells, stay, whole.places),
        "pruned_loss_km": _loss_on(whole, left.weights, left.row_cells, stay, left.row_cells),
        "pruned_seconds": pruned.seconds,
        "passing": len(stay),
        "method": filtered.method,
    }


def _loss_on(
    whole: ObfuscationProblem,
    weights: Weights,
    counted: tuple[str, ...],
    columns: tuple[str, ...],
    rows: tuple[str, ...],
) -> float:
    """Return the loss over the counted rows, by their prior among each other."""
    real = {place: at for at, place in enumerate(whole.places)}
    mine = {place: at for at, place in enumerate(rows)}
    at = [real[place] for place in counted]
    shares = weights[[mine[place] for place in counted]].astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    costs = whole.costs[np.ix_(at, [real[place] for place in columns])]
    return float((costs * shares).sum() / whole.priors[at].sum())


def violated_shares(problem: ObfuscationProblem, weights: Weights, rows: Rows) -> list[float]:
    """Return the share of constraints that fail after pruning 1, 2, … columns at random."""
    shares = weights / weights.sum(axis=1, keepdims=True, dtype=np.float64)
    logs = np.log(shares)
    excess = logs[:, None, :] - logs[None, :, :]
    excess -= problem.epsilon_per_km * problem.distances_km[:, :, None]
    chance = Chance(1)
    found = []
    for count in range(1, MOST_PRUNED + 1):
        orders = [
            sorted(range(len(shares)), key=lambda _: chance.uniform()) for _ in range(PRUNINGS)
        ]
        broken = [_broken(shares, excess, order[count:], rows) for order in orders]
        found.append(math.fsum(broken) / PRUNINGS)
    return found


def _broken(
    shares: NDArray[np.float64], excess: NDArray[np.float64], stays: list[int], rows: Rows
) -> float:
    left = np.log(shares[:, stays].sum(axis=1))
    part, more = excess[:, :, stays], left[:, None] - left[None, :]
    if rows is Rows.DROP:
        part, more = part[np.ix_(stays, stays)], more[np.ix_(stays, stays)]
    pairs = len(part) * (len(part) - 1)
    return float((part > more[:, :, None]).sum()) / (pairs * len(stays))


def measured_timing(timing: Timing, prior: Path) -> Json:
    """Measure one thing that has a goal in seconds."""
    if timing.name.startswith("forest"):
        return _forest(timing)
    problem = problem_of(timing.cells, timing.prior, timing.epsilon_per_km, prior)
    if timing.name.startswith("robust"):
        found = robust(problem, timing.delta, timing.rows, Limits(timing.gap))
        return {"seconds": found.seconds, "loss_km": found.loss_km, "method": found.method}
    # A matrix that the worst pruning hurts at every step: the optimum, not made for any.
    found = robust(problem, 0, timing.rows, Limits(timing.gap))
    weights, own = found.sealed.weights, own_columns(problem.places, problem.reportable)
    started = time.perf_counter()
    if timing.name.startswith("budget"):
        budget = exact_budget(weights / 2.0**62, timing.delta, own)
        told = {"largest_log_reserve": float(budget.log_reserves.max())}
    else:
        certificate = certify(
            weights, problem.distances_km, timing.epsilon_per_km, timing.delta, timing.rows
        )
        told = {"true_epsilon_per_km": certificate.smallest_epsilon_per_km}
    return {"seconds": time.perf_counter() - started} | told


def _forest(timing: Timing) -> Json:
    tree = LocationTree(ROOTS[timing.cells], 3)
    entry = CatalogueEntry(2, None, timing.delta, timing.rows, timing.epsilon_per_km)
    public = PublicMap(
        (tree.root,),
        tree.height,
        uniform_priors(tree.leaves),
        Settings((timing.epsilon_per_km,), timing.gap),
        (entry,),
    )
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        forest = privacy_forest(
            public, request_for(map_id(public), entry), work_folder=Path(folder)
        )
        seconds = time.perf_counter() - started
    losses = [float(str(one["loss_km"])) for one in forest.certificates.values()]
    return {"seconds": seconds, "subtrees": len(losses), "loss_km": max(losses)}
