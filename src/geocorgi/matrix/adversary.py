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
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix

Table = NDArray[np.float64]
LARGEST_EXPONENT = 300.0


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


def least_error_km(priors: Table, distances_km: Table, epsilon_per_km: float) -> float:
    """Return an error below which no adversary gets, whatever the mechanism, after any report.

    Every column t of an eps-Geo-Ind matrix obeys ``e^{-eps·d_kx} t_x ≤ t_k ≤ e^{eps·d_kx} t_x`` for
    each x. The mean distance to x under ``p_k t_k`` is least where near cells weigh the most that
    this allows and far ones the least; so the least over x and over where near ends is a bound on
    what remains after every single report, and hence on the mean. It is zero where it is too small
    to be computed.
    """
    priors = _require_priors(priors, distances_km)
    exponents = require_epsilon(epsilon_per_km) * distances_km
    if exponents.max(initial=0.0) > LARGEST_EXPONENT:
        return 0.0
    order = np.argsort(distances_km, axis=1)
    ordered_km = np.take_along_axis(distances_km, order, axis=1)
    grown = np.take_along_axis(np.exp(exponents), order, axis=1)
    near, far = priors[order] * grown, priors[order] / grown
    mass = _first_and_last(near, far)
    error = _first_and_last(near * ordered_km, far * ordered_km)
    means = np.divide(error, mass, out=np.full_like(error, np.inf), where=mass > 0)
    return float(means.min())


def _first_and_last(near: Table, far: Table) -> Table:
    """Return, for every m, the sum of the first m of near and of all but the first m of far."""
    first = np.concatenate([np.zeros((len(near), 1)), np.cumsum(near, axis=1)], axis=1)
    last = np.cumsum(far[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(first + np.concatenate([last, np.zeros((len(far), 1))], axis=1))
