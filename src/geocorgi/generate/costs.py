"""The expected detour of reporting one place when another is true, for thousands of places.

Paper: Eq. (3) and eq:matrix_gen, as an expectation: ``c_kl = Σ_n q_n |d_kn − d_ln|`` in km. The
same numbers as ``matrix.quality_loss.expected_error_km``, which needs numpy alone and checks this.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from geocorgi.tree.distances import Table

ROWS_AT_ONCE = 64


def expected_detours_km(
    to_targets_km: Table, columns: Sequence[int], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the costs with a row for each place and a column for each of ``columns``."""
    aimed = np.flatnonzero(targets)
    # q_n |d_kn − d_ln| is |q_n d_kn − q_n d_ln|: a city-block distance between scaled rows.
    scaled = np.ascontiguousarray(to_targets_km[:, aimed] * targets[aimed])
    mirrored = list(columns) == list(range(len(scaled)))
    others = scaled if mirrored else scaled[list(columns)]
    costs = np.empty((len(scaled), len(others)))

    def fill(rows: slice) -> None:
        first = rows.start if mirrored else 0
        costs[rows, first:] = cdist(scaled[rows], others[first:], "cityblock")
        if mirrored:  # from k to l as from l to k, to the last bit
            costs[first:, rows] = costs[rows, first:].T

    parts = [slice(at, at + ROWS_AT_ONCE) for at in range(0, len(scaled), ROWS_AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # SciPy lets go of the interpreter
        list(threads.map(fill, parts))
    return costs
