"""How far an adversary who knows everything but the place errs on average.

The adversary knows the mechanism and the prior, sees one report and answers with the cell that
minimises her expected distance to the truth: ``Σ_l min_x Σ_k p_k z_kl d_kx``. No other way of
guessing a cell does better on average, so the number is a promise about every adversary with this
prior; one who knows more errs less. Without a report she errs by ``min_x Σ_k p_k d_kx``: no
mechanism can make her err more than that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix

Table = NDArray[np.float64]


def expected_error_km(
    matrix: ObfuscationMatrix | SealedMatrix, priors: Table, distances_km: Table
) -> float:
    """Return the best adversary's mean error; priors and distances are those of the rows."""
    joint = _require_priors(priors, distances_km)[:, None] * _rows(matrix, distances_km)
    return float((distances_km @ joint).min(axis=0).sum())


def error_without_a_report_km(priors: Table, distances_km: Table) -> float:
    """Return how far she errs on the prior alone: the most that any mechanism can achieve."""
    return float((distances_km @ _require_priors(priors, distances_km)).min())


def _rows(matrix: ObfuscationMatrix | SealedMatrix, distances_km: Table) -> Table:
    weights = np.asarray(matrix.weights, dtype=np.float64)
    if len(weights) != len(distances_km):
        raise InvalidMatrix("the distances are not those between the matrix's rows")
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def _require_priors(priors: Table, distances_km: Table) -> Table:
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != (len(distances_km),) or not priors.sum() > 0 or (priors < 0).any():
        raise InvalidMatrix("the priors are not one for each row, with one above zero")
    return np.asarray(priors / priors.sum(), dtype=np.float64)
