"""What obfuscation costs the service, in km (Paper: Eq. 3, eq:matrix_gen_1, eq:matrix_gen).

For a target n, reporting l from k makes the estimated distance wrong by ``|d_kn - d_ln|``
(Eq. 3). Averaged over the targets' distribution q that is the cost ``c_kl`` of the pair; averaged
over the prior p and the row's probabilities it is the quality loss (Eq. 6 and 7). The paper calls
a plain sum over N targets the overall utility in one place and divides by N in another; here it
is always the expectation, so losses of different numbers of targets can be compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix, InvalidPriors
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix

Distribution = NDArray[np.float64]
BATCH_ENTRIES = 120_000  # 1 MB: a batch of targets stays in the cache


def estimation_error_km(
    to_targets_km: NDArray[np.float64], real: int, reported: int
) -> Distribution:
    """Return the error for each target when ``reported`` stands for ``real`` (Paper: Eq. 3)."""
    errors: Distribution = np.abs(to_targets_km[real] - to_targets_km[reported])
    return errors


def expected_error_km(
    rows_to_targets_km: NDArray[np.float64],
    columns_to_targets_km: NDArray[np.float64],
    targets: Distribution,
) -> NDArray[np.float64]:
    """Return ``c_kl = Σ_n q_n |d_kn - d_ln|`` for every real k and reported l."""
    targets = _require_distribution(targets, rows_to_targets_km.shape[1], "targets")
    columns = columns_to_targets_km.shape[0]
    errors = np.zeros((rows_to_targets_km.shape[0], columns))
    wanted = np.flatnonzero(targets)
    rows_at_once = max(1, BATCH_ENTRIES // max(1, columns * wanted.size))
    to_targets = columns_to_targets_km[None, :, wanted]
    for first in range(0, errors.shape[0], rows_at_once):
        batch = rows_to_targets_km[first : first + rows_at_once, None, wanted] - to_targets
        errors[first : first + rows_at_once] = np.abs(batch, out=batch) @ targets[wanted]
    return errors


def quality_loss_km(
    matrix: ObfuscationMatrix, priors: Distribution, error_km: NDArray[np.float64]
) -> float:
    """Return ``Σ_k p_k Σ_l z_kl c_kl`` in km (Paper: Eq. 6 and 7)."""
    priors = _require_distribution(priors, len(matrix.row_cells), "priors")
    if error_km.shape != matrix.probabilities.shape:
        raise InvalidMatrix("the errors are not one for each entry of the matrix")
    return float(priors @ (matrix.probabilities * error_km).sum(axis=1))


def _require_distribution(weights: Distribution, size: int, what: str) -> Distribution:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (size,):
        raise InvalidPriors(f"there are {size} cells but {weights.size} {what}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidPriors(f"the {what} hold a weight that is negative or not finite")
    if abs(float(weights.sum()) - 1) > 1e-9:
        raise InvalidPriors(f"the {what} sum to {weights.sum():.12g}, not to one")
    return weights
