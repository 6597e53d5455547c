"""The master, solved by a primal-dual interior point method (Mehrotra's predictor-corrector).

``min costs . z subject to rays z = 1, z >= 0``: few rows, many columns, all dense, so one
iteration is one product ``rays diag(d) rays.T`` and one Cholesky factorisation. Stopped early it
returns duals in the *middle* of the optimal face instead of at a corner of it, which is what
keeps column generation from oscillating; a simplex solver cannot do that.

With a ``Centre`` the dual gets a quadratic penalty for leaving it (a proximal bundle step). In the
primal that is a slack in every row, and in the normal equations a diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from geocorgi.errors import SolverFailed
from geocorgi.generate.optimum.cone import Floats

MOST_ITERATIONS = 60
STEP_TO_THE_WALL = 0.99


@dataclass(frozen=True, slots=True)
class Centre:
    """Where the duals should stay, and the price of leaving it, row by row."""

    duals: Floats
    stiffness: Floats


@dataclass(frozen=True, slots=True)
class MasterPoint:
    """A nearly optimal pair: weights of the rays, and duals of the rows."""

    weights: Floats
    duals: Floats


@dataclass(slots=True)
class _Iterate:
    z: Floats
    y: Floats
    s: Floats


def solve_master(
    rays: Floats,
    costs: Floats,
    tolerance: float,
    centre: Centre | None = None,
    expired: Callable[[], bool] = lambda: False,
) -> MasterPoint:
    """Solve to a relative gap of ``tolerance``; raises when the iterates blow up.

    When time expires the iterates are returned as they stand: rows sum to one only nearly then.
    """
    rows = rays.shape[0]
    centre = centre or Centre(np.zeros(rows), np.zeros(rows))
    proximal = bool(centre.stiffness.any())
    at = _start(rays, costs, centre.duals if proximal else None)
    stalled = 0
    for _ in range(MOST_ITERATIONS):
        left = 1.0 - rays @ at.z - centre.stiffness * (at.y - centre.duals)
        right = costs - rays.T @ at.y - at.s
        gap = at.z @ at.s / max(abs(float(costs @ at.z)), 1e-300)
        if not np.isfinite(gap):
            raise SolverFailed("the interior point method left the finite numbers")
        rough = max(np.abs(left).max(), np.abs(right).max() / (1 + np.abs(costs).max()))
        # Past the tolerance a little roughness is polished or repaired later.
        if expired() or (gap < tolerance and (rough < 1e-9 or stalled > 2)):
            break
        stalled += int(gap < tolerance)
        _advance(rays, at, left, right, centre.stiffness, together=proximal)
    if not (proximal or expired()):
        _polish(rays, at)
    return MasterPoint(at.z, at.y)


def _start(rays: Floats, costs: Floats, duals: Floats | None) -> _Iterate:
    solve = _normal_equations(rays, np.ones(len(costs)), np.zeros(rays.shape[0]))
    z = rays.T @ solve(np.ones(rays.shape[0]))
    y = solve(rays @ costs) if duals is None else duals.copy()
    s = costs - rays.T @ y
    z += max(-1.5 * z.min(), 0.0)
    s += max(-1.5 * s.min(), 0.0)
    product = float(z @ s)
    shift_z = 0.5 * product / max(s.sum(), 1e-300) + 1e-10
    shift_s = 0.5 * product / max(z.sum(), 1e-300) + 1e-10
    return _Iterate(z + shift_z, y, s + shift_s)


def _advance(
    rays: Floats, at: _Iterate, left: Floats, right: Floats, stiffness: Floats, *, together: bool
) -> None:
    ratio = at.z / at.s
    solve = _normal_equations(rays, ratio, stiffness)
    base = left + rays @ (ratio * right)

    def step(target: Floats) -> _Iterate:
        dy = solve(base - rays @ (target / at.s))
        ds = right - rays.T @ dy
        return _Iterate(target / at.s - ratio * ds, dy, ds)

    ahead = step(-at.z * at.s)
    primal, dual = _reach(at, ahead, 1.0, together=together)
    mean = float(at.z @ at.s) / len(at.z)
    hoped = float((at.z + primal * ahead.z) @ (at.s + dual * ahead.s)) / len(at.z)
    final = step((hoped / mean) ** 3 * mean - at.z * at.s - ahead.z * ahead.s)
    primal, dual = _reach(at, final, STEP_TO_THE_WALL, together=together)
    at.z += primal * final.z
    at.y += dual * final.y
    at.s += dual * final.s


def _reach(at: _Iterate, way: _Iterate, share: float, *, together: bool) -> tuple[float, float]:
    primal = min(1.0, share / max(float((-way.z / at.z).max()), 1e-300))
    dual = min(1.0, share / max(float((-way.s / at.s).max()), 1e-300))
    return (min(primal, dual),) * 2 if together else (primal, dual)


def _normal_equations(
    rays: Floats, diagonal: Floats, stiffness: Floats
) -> Callable[[Floats], Floats]:
    half = rays * np.sqrt(diagonal)
    # Half the work of a full product: only the lower triangle is filled, and only it is read.
    normal = dsyrk(1.0, half.T, trans=1, lower=1)
    corner = np.diag_indices(len(normal))
    normal[corner] += stiffness
    scale = 1.0 / np.sqrt(normal[corner])
    normal *= scale[:, None]
    normal *= scale
    for nudge in (1e-13, 1e-11, 1e-9, 1e-7):
        nudged = normal.copy(order="F")
        nudged[corner] += nudge
        try:
            factor = cho_factor(nudged, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return lambda v: scale * cho_solve(factor, scale * v, check_finite=False)
    raise SolverFailed("the interior point method met a system that is not positive definite")


def _polish(rays: Floats, at: _Iterate) -> None:
    """Bring the row sums to rounding, by the least change that spares the small weights."""
    solve = _normal_equations(rays, at.z / at.s, np.zeros(rays.shape[0]))
    for _ in range(3):
        change = at.z / at.s * (rays.T @ solve(1.0 - rays @ at.z))
        if (at.z + change).min() < 0:
            return
        at.z += change
