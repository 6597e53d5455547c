"""The matrix of scaled exponentials, and the duals that would make it optimal.

``kernel x = 1`` with ``x >= 0`` gives ``kernel diag(x)``: feasible, every column a scaled ray. By
complementary slackness its duals price every one of these rays at exactly zero, which is one more
solve with the transposed kernel. Whether that is the optimum is for pricing to say.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, lu_factor, lu_solve

from geocorgi.generate.optimum.cone import Cone, Floats
from geocorgi.generate.optimum.pool import Pool


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A candidate: weights of the kernel's rays, and the duals that go with them."""

    weights: Floats
    duals: Floats


def closed_form(cone: Cone, kernel_rays: Pool) -> ClosedForm | None:
    """Return the candidate, or None where some weight would be negative or the kernel singular."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            factors = lu_factor(cone.kernel)
        except (LinAlgError, LinAlgWarning):
            return None
    if np.abs(np.diagonal(factors[0])).min() < 1e-12:
        return None
    weights = lu_solve(factors, np.ones(cone.size))
    weights += lu_solve(factors, 1.0 - cone.kernel @ weights)
    duals = lu_solve(factors, kernel_rays.costs, trans=1)
    if not np.isfinite(weights).all() or weights.min() < 0:
        return None
    return ClosedForm(weights, duals)
