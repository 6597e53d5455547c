"""The universal mechanism: private whatever is pruned, with no solver and no server.

``Z_ik ∝ exp(-(eps/2)·d_ik)``. For two real cells i and j the numerators differ by at most
``e^{(eps/2)·d_ij}`` (triangle inequality), and so do the normalisers, each being a sum of such
terms over the same columns. Whatever columns are removed, the survivors' normalisers are still
sums over the same columns, so both bounds stand and their product is ``e^{eps·d_ij}``: the matrix
is eps-Geo-Ind after every pruning of every size, rows kept or dropped
(tests/theorems/test_universal_prunability.py enumerates all of them on small trees).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix


def exponential_matrix(
    cells: Sequence[str], distances_km: NDArray[np.float64], epsilon_per_km: float, level: int = 0
) -> ObfuscationMatrix:
    """Return the universal mechanism over the cells."""
    epsilon = require_epsilon(epsilon_per_km)
    if distances_km.shape != (len(cells), len(cells)):
        raise InvalidMatrix("the distances are not one row and one column for each cell")
    # The nearest column is at distance zero, so every row's sum is at least one: no underflow.
    weights = np.exp(-(epsilon / 2) * distances_km)
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    return ObfuscationMatrix(tuple(cells), tuple(cells), level, probabilities)
