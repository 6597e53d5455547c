"""The best matrices when every column has a cone of its own (robust_columns; ADR 6).

``rates[k, i, j]`` bounds column k: ``z_ik ≤ e^{rates_kij} · z_jk``. The engine's programs have one
cone for all columns; here are the two things that are as simple with many. ``closed_form``:
``G x = 1``, column k of G being the smallest member of column k's cone that is one at its own
place; what it costs never mattered. ``mixture``: for given costs the best mixture of all smallest
members, seen from every place: a linear program of few rows, solved in milliseconds.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve

from geocorgi.errors import SolverFailed
from geocorgi.generate.optimum.cone import Cone
from geocorgi.generate.optimum.interior_point import solve_master
from geocorgi.generate.optimum.pricing import Pricer
from geocorgi.generate.optimum.safe_bound import lower_bound
from geocorgi.generate.reserved_budget import Floats, Indices

MOST_PLACES = 100  # beyond, the closure of every column's cone takes too long
TOLERANCE = 1e-7
OFF = 1e-9  # of a row's sum
NEGLIGIBLE = 1e-3  # of a row's loss: what a column's proof may leave open


@dataclass(frozen=True, slots=True)
class Mixed:
    """A matrix, and the duals of its rows for a bound on what others cost."""

    matrix: Floats
    duals: Floats


def closed_form(rates: Floats, own: Indices, costs: Floats) -> Mixed | None:
    """Return ``G·diag(x)``, None where some x is negative or G is singular."""
    kernel = _own_kernel(rates, own)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            weights = solve(kernel, np.ones(len(kernel)))
            duals = solve(kernel.T, (costs * kernel).sum(axis=0))
        except (LinAlgError, LinAlgWarning):
            return None
    if not np.isfinite(weights).all() or weights.min() < 0:
        return None
    matrix = kernel * weights
    return Mixed(matrix / matrix.sum(axis=1, keepdims=True), duals)


def _own_kernel(rates: Floats, own: Indices) -> Floats:
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


def mixture(rates: Floats, costs: Floats) -> Mixed | None:
    """Return the cheapest mixture of all columns' smallest members, None where there are too many.

    The column in which everybody reports alike is one more: there is always a mixture.
    """
    count, size = rates.shape[:2]
    if size > MOST_PLACES:
        return None
    rays = np.exp(-closures(rates)).reshape(-1, size).T
    column = np.append(np.repeat(np.arange(count), size), int(costs.sum(axis=0).argmin()))
    rays = np.ascontiguousarray(np.hstack([rays, np.ones((size, 1))]))
    prices = np.einsum("jr,jr->r", rays, costs[:, column])
    scale = float(prices[-1]) / size or 1.0
    try:
        point = solve_master(rays, prices / scale, TOLERANCE)
    except SolverFailed:
        return None
    matrix = np.zeros((size, count))
    np.add.at(matrix.T, column, (rays * np.maximum(point.weights, 0.0)).T)
    sums = matrix.sum(axis=1, keepdims=True)
    return Mixed(matrix / sums, point.duals * scale) if np.abs(sums - 1).max() <= OFF else None


def closures(rates: Floats) -> Floats:
    """Return every column's shortest paths (Floyd-Warshall)."""
    closed = rates.copy()
    for middle in range(closed.shape[1]):
        np.minimum(closed, closed[:, :, middle, None] + closed[:, None, middle], out=closed)
    return closed


def bound_km(rates: Floats, costs: Floats, duals: Floats) -> float | None:
    """Return a lower bound on the loss of every matrix under the rates, None if too dear.

    The duals, lowered as far as the proofs of the columns demand, each over its own cone.
    """
    if rates.shape[1] > MOST_PLACES:
        return None
    negligible = NEGLIGIBLE * abs(float(duals.sum())) / len(duals)
    excess = np.zeros(len(duals))
    for column, closed in enumerate(closures(rates)):
        cone = Cone(closed, np.ascontiguousarray(np.exp(-closed).T))
        prices = Pricer(cone, cone, costs[:, [column]]).price(duals, negligible)
        np.maximum(excess, prices.excess, out=excess)
    return lower_bound(duals, excess)
