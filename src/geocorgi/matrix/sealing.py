"""From floats to a promise: integer weights that are private exactly (ADR 2).

A solver's output is private up to dust. Here every row is rounded to integers that sum to one
power of two, with a few units added to every entry, and the result is *checked*, not trusted: the
auditor judges all triples of the integers in exact arithmetic, over distances that are shortened
by ``ROOM_KM``. That room is a thousand times more than two machines' mathematics libraries differ
by, so a sealed matrix passes every honest machine's audit.

Where the room comes from. A generator solves at ``epsilon_to_solve``, a few billionths below the
epsilon to be sealed: that pays for the room and for the rounding of large entries. Small entries
are moved by whole units; adding u units to each of two neighbours' entries absorbs an error of one
unit in both when ``u·(e^x − 1) ≥ e^x + 1``, that is ``u ≥ coth(x/2)``, for the smallest exponent
``x = eps·d``. Twice that and a thousand units more are added; of 2^62 they cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import NotPrivate
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.geo_ind import Audit, audit
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix

TOTAL = 2**62
ROOM_KM = 1e-9
LEAST_UNITS = 1_024


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed matrix and the audit that it passed, over the shortened distances."""

    matrix: SealedMatrix
    audit: Audit


def epsilon_to_solve(epsilon_per_km: float, distances_km: NDArray[np.float64]) -> float:
    """Return the epsilon at which to generate what is to be sealed at ``epsilon_per_km``."""
    return require_epsilon(epsilon_per_km) * (1 - 4 * ROOM_KM / _nearest_km(distances_km))


def seal(
    matrix: ObfuscationMatrix, distances_km: NDArray[np.float64], epsilon_per_km: float
) -> Sealed:
    """Return the matrix in integer weights that are exactly private, or raise NotPrivate."""
    exponent = require_epsilon(epsilon_per_km) * _nearest_km(distances_km)
    units = LEAST_UNITS + math.ceil(2 / math.tanh(exponent / 2))
    sealed = SealedMatrix(
        matrix.row_cells, matrix.column_cells, matrix.level, _rounded(matrix.probabilities, units)
    )
    verdict = audit(sealed, np.maximum(distances_km - ROOM_KM, 0), epsilon_per_km)
    if not verdict.holds:
        raise NotPrivate(
            f"the matrix cannot be sealed at {epsilon_per_km:g} per km: it needs "
            f"{verdict.smallest_epsilon_per_km:.12g}; generate it at epsilon_to_solve()"
        )
    return Sealed(sealed, verdict)


def in_integers(matrix: ObfuscationMatrix) -> SealedMatrix:
    """Return the matrix in integer weights that promise nothing: measure what they keep."""
    weights = _rounded(matrix.probabilities, LEAST_UNITS)
    return SealedMatrix(matrix.row_cells, matrix.column_cells, matrix.level, weights)


def _rounded(probabilities: NDArray[np.float64], units: int) -> NDArray[np.uint64]:
    """Return integer rows that sum to ``TOTAL``, each entry at least ``units``."""
    spread = TOTAL - units * probabilities.shape[1]
    if spread <= TOTAL // 2:
        raise NotPrivate("places so near each other need more units than a row has; merge them")
    shares = probabilities / probabilities.sum(axis=1, keepdims=True)
    weights: NDArray[np.int64] = np.rint(shares * spread).astype(np.int64) + units
    # What rounding left over goes to the largest entry, for which it is a part in 10^12.
    left_over = [TOTAL - sum(row) for row in weights.tolist()]
    weights[np.arange(len(weights)), weights.argmax(axis=1)] += np.array(left_over)
    return np.asarray(weights, dtype=np.uint64)


def _nearest_km(distances_km: NDArray[np.float64]) -> float:
    """Return the smallest distance between two different places; 1 km if there is none."""
    apart = distances_km[distances_km > 0]
    return float(apart.min()) if apart.size else 1.0
