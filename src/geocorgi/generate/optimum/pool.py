"""The rays found so far, each with the column where it costs least.

A ray may serve any column, and its Geo-Ind does not depend on which: only the cheapest is worth
keeping, which makes the master as small as its rays are many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geocorgi.generate.optimum.cone import Floats, Integers


@dataclass(frozen=True, slots=True)
class Pool:
    """Rays as columns (largest entry one), their cost and their cheapest column."""

    rays: Floats
    costs: Floats
    columns: Integers

    @property
    def size(self) -> int:
        """The number of rays."""
        return len(self.costs)


def pool_of(rays: Floats, costs: Floats) -> Pool:
    """Scale the rays and give each to its cheapest column (the first among equals)."""
    rays = rays / rays.max(axis=0)
    everywhere = costs.T @ rays
    columns = everywhere.argmin(axis=0)
    return Pool(rays, everywhere[columns, np.arange(rays.shape[1])], columns)


def joined(first: Pool, second: Pool) -> Pool:
    """Return both pools as one."""
    return Pool(
        np.hstack([first.rays, second.rays]),
        np.concatenate([first.costs, second.costs]),
        np.concatenate([first.columns, second.columns]),
    )


def trimmed(pool: Pool, duals: Floats, most: int, keep: int) -> Pool:
    """Drop the rays that are dearest by the duals, when there are more than ``most``."""
    if pool.size <= most:
        return pool
    hopelessness = (pool.costs - duals @ pool.rays) / pool.rays.sum(axis=0)
    kept = np.sort(np.argsort(hopelessness, kind="stable")[:keep])
    return Pool(np.ascontiguousarray(pool.rays[:, kept]), pool.costs[kept], pool.columns[kept])


def assembled(pool: Pool, weights: Floats, width: int) -> Floats:
    """Return the matrix: every column the weighted sum of its rays."""
    matrix = np.zeros((pool.rays.shape[0], width))
    used = np.flatnonzero(weights > 0)
    for column in np.unique(pool.columns[used]):
        own = used[pool.columns[used] == column]
        matrix[:, column] = pool.rays[:, own] @ weights[own]
    return matrix
