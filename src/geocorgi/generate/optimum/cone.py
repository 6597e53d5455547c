"""The cone that every column of a Geo-Ind matrix lies in, and how its members are made.

``C = {x >= 0 : x_i <= exp(rates_ij) x_j for all i, j}`` (ADR 4). Plain Geo-Ind has
``rates = epsilon * distances``; reserved budgets shrink single pairs, so rates may be asymmetric
and need not obey the triangle inequality. Their metric closure describes the same cone and does.

The smallest member with ``x_i = 1`` is ``kernel[:, i]``, an extreme ray. C is closed under sums,
scaling, pointwise maximum and pointwise minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geocorgi.errors import InvalidProblem

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

# exp(-700) is still a normal float. Pairs farther apart are held to exp(700) instead: a stricter,
# hence safe, promise; and the lower bound never uses them.
FARTHEST_RATE = 700.0


@dataclass(frozen=True, slots=True)
class Cone:
    """Closed rates and the kernel ``exp(-rates).T`` whose columns are rays."""

    rates: Floats
    kernel: Floats

    @property
    def size(self) -> int:
        """The number of places."""
        return len(self.rates)


def cone_of(rates: Floats, *, metric: bool = False) -> Cone:
    """Check the rates, close them unless they are known to be metric, and freeze the cone."""
    rates = np.array(rates, dtype=np.float64)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1] or not len(rates):
        raise InvalidProblem(f"expected a square table of rates, got shape {rates.shape}")
    if not np.isfinite(rates).all() or rates.min() < 0:
        raise InvalidProblem("expected finite rates of at least 0 between all places")
    if np.diagonal(rates).any():
        raise InvalidProblem("expected a rate of 0 from every place to itself")
    if not metric:
        rates = metric_closure(rates)
        # x_i <= x_j in every column of a matrix whose rows all sum to one means x_i = x_j.
        rates = metric_closure(np.where(rates.T == 0, 0.0, rates)) if _one_way(rates) else rates
    closed = np.minimum(rates, FARTHEST_RATE)
    kernel = np.ascontiguousarray(np.exp(-closed).T)
    closed.flags.writeable = kernel.flags.writeable = False
    return Cone(closed, kernel)


def _one_way(rates: Floats) -> bool:
    """Say whether some rate is zero in one direction only."""
    return bool(((rates == 0) & (rates.T > 0)).any())


def metric_closure(rates: Floats) -> Floats:
    """Shortest paths (Floyd-Warshall): the tightest rates that follow from the given ones."""
    closed = rates.copy()
    for middle in range(len(closed)):
        np.minimum(closed, closed[:, middle, None] + closed[middle], out=closed)
    return closed


def rays_over(cone: Cone, seeds: Integers, heights: Floats) -> Floats:
    """Return the smallest member of C that is at least ``heights`` on the ``seeds``."""
    smallest: Floats = (cone.kernel[:, seeds] * heights).max(axis=1)
    return smallest


def flat_tops(cone: Cone) -> Floats:
    """Rays cut off at one, for doubling radii: broad hills, with which a low epsilon begins."""
    if cone.size == 1:
        return np.ones((1, 1))
    spacing = float(np.partition(cone.rates, 1, axis=1)[:, 1].mean())
    tops = []
    height = 1.2 * spacing
    while 0 < height < cone.rates.max():
        tops.append(np.exp(np.minimum(height - cone.rates.T, 0.0)))
        height *= 2
    return np.hstack(tops) if tops else np.ones((cone.size, 1))


def projected(cone: Cone, columns: Floats) -> Floats:
    """Raise each column to the smallest member of C above it; members stay what they are."""
    raised = np.empty_like(columns)
    for place in range(cone.size):
        raised[place] = (cone.kernel[place, :, None] * columns).max(axis=0)
    return raised
