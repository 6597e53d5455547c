"""Small worlds, and the whole linear program solved without any of the engine's code."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from geocorgi.generate.costs import expected_detours_km
from geocorgi.generate.optimum.cone import Cone, projected


def plane(seed: int, size: int) -> np.ndarray:
    """Distances between random points of a 2 km square."""
    points = np.random.default_rng(seed).uniform(0, 2, (size, 2))
    return np.linalg.norm(points[:, None] - points, axis=2)


def hexagon() -> np.ndarray:
    """Distances within seven cells: a centre and its ring, 0.35 km apart."""
    angle = np.arange(6) * np.pi / 3
    points = np.vstack([[0, 0], 0.35 * np.column_stack([np.cos(angle), np.sin(angle)])])
    return np.linalg.norm(points[:, None] - points, axis=2)


def quality_costs(distances: np.ndarray, prior: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The costs as the generators compute them."""
    every = range(len(distances))
    return prior[:, None] * expected_detours_km(distances, every, targets)


def detours(distances: np.ndarray, prior: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The costs, in three plain loops."""
    size = len(distances)
    return np.array(
        [
            [
                prior[k]
                * sum(targets[n] * abs(distances[k, n] - distances[m, n]) for n in range(size))
                for m in range(size)
            ]
            for k in range(size)
        ]
    )


def whole_program(rates: np.ndarray, costs: np.ndarray) -> float:
    """The optimum by HiGHS on all K^2 L constraints, costs scaled to a mean of one."""
    size, width = costs.shape
    rows, columns, values, count = [], [], [], 0
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            # Both sides times exp(-rate / 2), so that no coefficient is above one by much.
            high, low = np.exp(rates[i, j] / 2), np.exp(-rates[i, j] / 2)
            for column in range(width):
                rows += [count, count]
                columns += [i * width + column, j * width + column]
                values += [low, -high]
                count += 1
    unequal = coo_array((values, (rows, columns)), shape=(max(count, 1), size * width)).tocsr()
    equal = coo_array(
        (np.ones(size * width), (np.repeat(np.arange(size), width), np.arange(size * width)))
    ).tocsr()
    scale = costs.mean() or 1.0
    result = linprog(
        costs.ravel() / scale,
        A_ub=unequal,
        b_ub=np.zeros(unequal.shape[0]),
        A_eq=equal,
        b_eq=np.ones(size),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.success, result.message
    return float(result.fun * scale)


def worst_excess(cone: Cone, columns: np.ndarray) -> float:
    """Return the largest ``x_i / (exp(rate_ij) x_j) - 1``: at most rounding for members of C."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = projected(cone, columns) / columns
    return float(np.nanmax(ratios)) - 1.0
