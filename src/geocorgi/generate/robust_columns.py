"""A reserve for each pair and each column, and the matrix that these reserves leave (ADR 6).

The condition of δ-prunability is one for each pair i, j and column k:
``z_ik ≤ e^{eps·d_ij} / R_ijk · z_jk``, R over the S *without k*. With one R for a pair, as in the
paper, a column also pays for prunings that would remove the column itself. Where rows are kept
that is nearly all there is to pay: the worst S removes the row's own column, and it is the own
column that need not reserve for it. So here every column has a cone of its own.

For given reserves ``G x = 1``, ``Z = G·diag(x)`` is feasible where x ≥ 0, column k of G being the
smallest member of column k's cone that is one at the column's own place. (It is the engine's closed
form, with a cone a column.) That matrix has reserves of its own; they are put in the place of the
old ones, again and again, and that settles within a dozen rounds: what is then reserved is what is
needed. No prior comes into it, so nothing jumps from corner to corner.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve

from geocorgi.generate.optimum.cone import FARTHEST_RATE, Cone, metric_closure
from geocorgi.generate.optimum.pricing import Pricer
from geocorgi.generate.optimum.safe_bound import lower_bound
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import DUST, Floats, Indices, reserves_of_row
from geocorgi.generate.robust_reserves import Pruning

MOST_ROUNDS = 60
ROOM = 1e-6  # of epsilon: what rounds that come ever nearer may miss it by
STILL = 1e-5  # an entry that moves less has settled
MOST_RESERVED = 0.98  # of eps·d: two places never become one
MOST_THREADS = 8
NEGLIGIBLE = 1e-3  # of a row's loss: what a column's proof may leave open
STARTS = (0.5, 0.25, 0.0)  # of eps·d; half is safe whatever is removed
RESTLESS, SHORTER, SHORTEST = 0.8, 0.7, 0.3

Told = Callable[[Floats], None]


@dataclass(frozen=True, slots=True)
class OwnReserves:
    """A matrix under its own reserves: the rates (column, from, to) that they leave of ``eps·d``.

    ``factor``: how much of epsilon the matrix needs.
    """

    matrix: Floats
    rates: Floats
    factor: float


def settled(
    problem: ObfuscationProblem, exponents: Floats, pruning: Pruning, told: Told
) -> OwnReserves | None:
    """Return the matrix whose reserves are its own, None where it does not come to that."""
    size = len(problem.places)
    apart = ~np.eye(size, dtype=np.bool_)
    if len(problem.reportable) != size or size < 2 or not exponents[apart].all():
        return None
    for start in STARTS:
        found = _settled_from(start, problem, exponents, pruning, told)
        if found is not None:
            return found
    return None


def _settled_from(
    start: float, problem: ObfuscationProblem, exponents: Floats, pruning: Pruning, told: Told
) -> OwnReserves | None:
    goal = exponents * (1 - ROOM)
    rates = np.repeat((1 - start) * goal[None], len(exponents), axis=0)
    last, changes, step = np.zeros(exponents.shape), [np.inf, np.inf], 1.0
    for _ in range(MOST_ROUNDS):
        matrix = _closed_form(_kernel(rates, problem.columns))
        if matrix is None:
            return None
        told(matrix)
        needed, factor = _judged(matrix, (exponents, goal), pruning)
        changes.append(float(np.abs(matrix - last).max()))
        still = changes[-1] <= STILL
        if still and factor <= 1:
            return OwnReserves(matrix, rates, factor)
        if still:
            goal = goal * ((1 - ROOM) / factor)
        if changes[-1] > RESTLESS * changes[-3]:  # to and fro
            step = max(step * SHORTER, SHORTEST)
        rates += step * (needed - rates)
        last = matrix
    return None


def bound_km(problem: ObfuscationProblem, found: OwnReserves) -> float | None:
    """Return a lower bound on the loss of every matrix under the same reserves, None if weak.

    The duals at which every column's ray is worth just what it costs, lowered as far as the proofs
    of the columns demand, each over its own cone.
    """
    costs, kernel = problem.costs, found.matrix / found.matrix.max(axis=0)
    try:
        duals = solve(kernel.T, (costs * kernel).sum(axis=0))
    except LinAlgError:
        return None
    negligible = NEGLIGIBLE * float((costs * found.matrix).sum()) / len(duals)
    excess = np.zeros(len(duals))
    for column, rates in enumerate(found.rates):
        closed = metric_closure(rates)
        cone = Cone(closed, np.ascontiguousarray(np.exp(-closed).T))
        prices = Pricer(cone, cone, costs[:, [column]]).price(duals, negligible)
        np.maximum(excess, prices.excess, out=excess)
    return lower_bound(duals, excess)


def _kernel(rates: Floats, own: Indices) -> Floats:
    """Return, column by column, its cone's smallest member that is one at its own place.

    Shortest paths from the own place (Dijkstra), all columns at once.
    """
    count, size = rates.shape[:2]
    columns = np.arange(count)
    far = np.full((count, size), np.inf)
    far[columns, own] = 0.0
    reached = np.zeros((count, size), dtype=np.bool_)
    for _ in range(size):
        nearest = np.where(reached, np.inf, far).argmin(axis=1)
        reached[columns, nearest] = True
        onwards = far[columns, nearest][:, None] + rates[columns, nearest]
        np.minimum(far, onwards, out=far)
    return np.asarray(np.exp(-far).T)


def _closed_form(kernel: Floats) -> Floats | None:
    """Return ``G·diag(x)`` with ``G x = 1``, None where some x is negative or G is singular."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            weights = solve(kernel, np.ones(len(kernel)))
        except (LinAlgError, LinAlgWarning):
            return None
    if not np.isfinite(weights).all() or weights.min() < 0:
        return None
    matrix = kernel * weights
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def _judged(
    matrix: Floats, exponents: tuple[Floats, Floats], pruning: Pruning
) -> tuple[Floats, float]:
    """Return the rates that the matrix's reserves leave of the goal, and what it needs."""
    epsilon, goal = exponents
    size = len(matrix)
    sealable = matrix + DUST
    logs = np.log(sealable)
    rates = np.empty((matrix.shape[1], size, size))
    factors = np.zeros(size)

    def visit(i: int) -> None:
        reserves = reserves_of_row(i, sealable, pruning.delta, pruning.own)
        needs = (logs[i] - logs + reserves).max(axis=1)
        apart = epsilon[i] > 0
        factors[i] = (needs[apart] / epsilon[i, apart]).max(initial=0.0)
        left = goal[i][:, None] - np.minimum(reserves, MOST_RESERVED * goal[i][:, None])
        rates[:, i, :] = np.clip(left, 0.0, FARTHEST_RATE).T

    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        list(pool.map(visit, range(size)))
    return rates, float(factors.max())
