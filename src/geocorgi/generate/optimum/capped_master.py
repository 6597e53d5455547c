"""The master with caps on what the δ largest entries of a row sum to (ADR 6).

"Every S of δ columns has at most the cap" is one cut for each S. All cuts whose S lies within some
*watched* columns W of a row are one small program together: with ``θ, p ≥ 0``::

    Σ_{l∈S} z_l ≤ τ for all S ⊆ W, |S| ≤ δ   ⟺   z_l ≤ θ + p_l for l ∈ W,   δ·θ + Σ_W p_l ≤ τ

(⇐ add up; ⇒ θ the δ-th largest entry). So cuts are added lazily by watching a column more, and
ties, which have many S alike, cost nothing. The dual of ``z_il ≤ θ_i + p_il`` is the sum of the
multipliers of all cuts that hold l: a *charge* on reporting l from i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from geocorgi.generate.optimum.cone import Floats, Integers
from geocorgi.generate.optimum.pool import Pool
from geocorgi.generate.optimum.solver import solve_program
from geocorgi.generate.optimum.transport import Mask

ROOM = 1e-7  # over a cap, for the solver's dust; whoever reserves for a cap reserves for this too


@dataclass(frozen=True, slots=True)
class Caps:
    """The δ (``count``) largest entries of row i are at most ``most[i]`` together, ``ROOM`` apart.

    With ``own`` a row's own column does not count (−1: it has none), and δ others are left.
    """

    most: Floats
    count: int
    own: Integers | None

    def largest(self, matrix: Floats) -> tuple[Integers, Floats]:
        """Return the columns of each row's δ largest entries, and what they sum to."""
        counted = matrix
        if self.own is not None:
            counted = matrix.copy()
            rows = np.flatnonzero(self.own >= 0)
            counted[rows, self.own[rows]] = -1.0  # behind all others, zeros too
        columns = np.argsort(-counted, axis=1, kind="stable")[:, : self.count]
        return columns, np.take_along_axis(counted, columns, axis=1).sum(axis=1)

    def price(self, charges: Floats) -> float:
        """Return the most that these charges can come to where the caps hold."""
        total = charges.sum(axis=1) / self.count
        return float((self.most + ROOM) @ np.maximum(charges.max(axis=1), total))


@dataclass(frozen=True, slots=True)
class CappedPoint:
    """Weights of the rays, duals of the rows, and what is charged for each entry."""

    weights: Floats
    duals: Floats
    charges: Floats


def solve_capped(pool: Pool, caps: Caps, watched: Mask, scale: float) -> CappedPoint:
    """Mix the rays as cheaply as the caps on the watched columns allow."""
    size, (rows, columns) = len(watched), np.nonzero(watched)
    table = vstack([_sums(pool, size, len(rows)), *_tops(pool, caps, rows, columns)]).tocsr()
    most = caps.most + ROOM / 2  # a matrix that just keeps to the caps is there, dust or not
    upper = np.concatenate([np.ones(size), np.zeros(len(rows)), most])
    lower = np.where(np.arange(len(upper)) < size, 1.0, -np.inf)
    costs = np.concatenate([pool.costs / scale, np.zeros(size + len(rows))])
    values, duals = solve_program(costs, table, lower, upper)
    charges = np.zeros(watched.shape)
    charges[rows, columns] = np.maximum(-duals[size : size + len(rows)], 0.0)
    weights = np.maximum(values[: pool.size], 0.0)
    return CappedPoint(weights, duals[:size] * scale, charges * scale)


def _sums(pool: Pool, size: int, count: int) -> csr_array:
    """Return the rows that say: what a place reports sums to one."""
    return hstack([csr_array(pool.rays), csr_array((size, size + count))])


def _tops(pool: Pool, caps: Caps, rows: Integers, columns: Integers) -> tuple[csr_array, csr_array]:
    """Return ``z_l − θ − p_l ≤ 0`` for all that is watched, and ``δ·θ + Σ p_l ≤ τ``."""
    size, count = len(caps.most), len(rows)
    entries = pool.rays[rows] * (pool.columns == columns[:, None])
    one, eye = np.ones(count), csr_array(np.eye(size))
    theta = csr_array((one, (np.arange(count), rows)), shape=(count, size))
    beyond = csr_array((one, (np.arange(count), np.arange(count))), shape=(count, count))
    watching = hstack([csr_array(entries), -theta, -beyond])
    capping = hstack([csr_array((size, pool.size)), caps.count * eye, theta.T])
    return watching, capping
