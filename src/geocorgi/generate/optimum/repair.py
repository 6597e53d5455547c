"""From almost-feasible weights to rows that sum to one, without the solver's word.

Row sums come out as ``1 + e``. Shrink everything by ``1 - t`` and what is missing,
``t - (1 - t) e``, is itself a member of the cone as soon as ``t`` is a little larger than ``e``:
it needs no solver, only a column to stand in, the cheapest.
"""

from __future__ import annotations

import numpy as np

from geocorgi.generate.optimum.cone import Cone, Floats


def repaired(cone: Cone, matrix: Floats, costs: Floats) -> Floats | None:
    """Return a matrix whose rows sum to one, or None when the rows are too far from it."""
    rows = matrix.sum(axis=1)
    share = _share_needed(cone, rows - 1.0)
    if not share < 0.5:
        return None
    missing = 1.0 - (1.0 - share) * rows
    fixed = (1.0 - share) * matrix
    fixed[:, int((costs.T @ missing).argmin())] += missing
    return fixed


def _share_needed(cone: Cone, error: Floats) -> float:
    """Return the least share ``t`` for which the missing part is positive and in the cone."""
    # missing_i - missing_j = (1 - t)(e_j - e_i) <= (exp(rate_ij) - 1) missing_j, for all i, j.
    with np.errstate(over="ignore"):
        room = np.expm1(np.minimum(cone.rates, 50.0))
    # Places at rate 0 of each other have equal rows (``cone_of``); what differs there is rounding.
    apart = cone.rates > 0
    steepest = float((np.subtract.outer(-error, -error)[apart] / room[apart]).max(initial=0.0))
    return (float(np.maximum(error, 0).max()) + steepest) * (1 + 1e-9) + 1e-15
