"""A lower bound on the loss that no solver tolerance can spoil.

Duals are feasible when no column has a ray of positive price. Lower each dual by the largest demand
that any column's proof left at its place (``shipping``): then the same shipments prove every price
at most zero, so the sum of the lowered duals is a lower bound on every feasible loss. One place's
excess is paid once, not once a column: far tighter than ``sum(duals) - sum(prices)`` (ADR 5),
and it does not need entries to be at most one.
"""

from __future__ import annotations

import math

import numpy as np

from geocorgi.generate.optimum.cone import Floats
from geocorgi.generate.optimum.shipping import SLACK


def lower_bound(duals: Floats, excess: Floats) -> float:
    """Return the proved bound, rounded down."""
    # One sum, rounded once: two sums could each be large beside their difference.
    lowered = math.fsum([*duals, *-excess])
    return math.nextafter(lowered - SLACK * abs(lowered), -math.inf)


def trivial_bound(costs: Floats) -> float:
    """Return what the loss would be if every place could report as it likes."""
    # Costs are at least zero, so zero itself needs no rounding.
    return math.fsum(costs.min(axis=1)) * (1 - SLACK)


def relative_gap(loss: float, bound: float) -> float:
    """Return ``(loss - bound) / loss``, at least zero; zero for a loss of zero."""
    scale = abs(loss) or abs(bound)
    return max(loss - bound, 0.0) / scale if np.isfinite(bound) and scale else float(loss > bound)
