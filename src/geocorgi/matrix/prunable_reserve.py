"""How much pruning can tell two rows apart, for all pairs at once, in doubles.

Pruning the columns S leaves ``T_i(S)``, the sum of row i's survivors. It multiplies the ratio of
the rows i and j in every surviving column by ``T_j(S) / T_i(S)`` (over its value before), so what
matters is the largest of these over all S of at most δ columns. That is no search over subsets but
a linear-fractional problem: for a guess λ the best S is the δ largest positive values of
``λ·w_il − w_jl``; its own ratio is the next guess, and the guesses rise to the maximum
(Dinkelbach), in two to five rounds.

The error. A score is off by at most ``2u(λ·w_il + w_jl)``, a sum of n survivors by ``n·u`` of
itself, and no two columns change places but by such errors. As ``W_j ≤ λ·W_i`` (removing nothing
is allowed), the largest ratio is at most ``(1 + error_i)`` times the one found, where ``error_i``
is ``(8n + 16δ)·u`` over the least share of row i that any pruning leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

UNIT_ROUNDOFF = 2.0**-53
MOST_ROUNDS = 60
NOTHING = -1


@dataclass(frozen=True, slots=True)
class Reserves:
    """For each of several pairs the largest ``T_j / T_i`` found and the S that reaches it.

    A removed set has δ places; those that are not used hold −1.
    """

    ratios: Floats
    removed: Indices


def largest_reserves(
    row: Floats, others: Floats, allowed: NDArray[np.bool_], delta: int
) -> Reserves:
    """Return the reserves of one row against several others, a column removed only if allowed."""
    pairs, columns = others.shape
    if delta == 0:
        nothing = np.empty((pairs, 0), dtype=np.intp)
        return Reserves(others.sum(axis=1) / row.sum(), nothing)
    # A score is at most λ times the row's own entry: the row's largest entries nearly always do.
    order = np.argsort(-row, kind="stable")
    few = 2 * delta + 32
    if few >= columns:
        return _among(order, row, others, allowed, delta)
    found = _among(order[:few], row, others, allowed, delta)
    scores = found.ratios[:, None] * row[found.removed] - np.take_along_axis(
        others, found.removed, axis=1
    )
    least = np.where(found.removed == NOTHING, 0.0, scores).min(axis=1)
    doubtful = np.flatnonzero(least <= found.ratios * row[order[few]] * (1 + 1e-9))
    if doubtful.size:
        closer = _among(order, row, others[doubtful], allowed[doubtful], delta)
        found.ratios[doubtful], found.removed[doubtful] = closer.ratios, closer.removed
    return found


def _among(
    candidates: Indices, row: Floats, others: Floats, allowed: NDArray[np.bool_], delta: int
) -> Reserves:
    """Return the reserves when only the candidates may be removed."""
    mine, theirs = row[candidates], others[:, candidates]
    may = allowed[:, candidates]
    rest = np.ones(len(row), dtype=np.bool_)
    rest[candidates] = False
    my_rest, their_rest = row[rest].sum(), others[:, rest].sum(axis=1)
    ratios = others.sum(axis=1) / row.sum()
    removed = np.full((len(others), delta), NOTHING, dtype=np.intp)
    rising = np.arange(len(others))
    delta = min(delta, len(candidates))
    for _ in range(MOST_ROUNDS):
        scores = np.where(may[rising], ratios[rising, None] * mine - theirs[rising], -1.0)
        best = np.argpartition(-scores, delta - 1, axis=1)[:, :delta]
        used = np.take_along_axis(scores, best, axis=1) > 0
        kept = np.ones(scores.shape)
        np.put_along_axis(kept, best, np.where(used, 0.0, 1.0), axis=1)
        higher = (their_rest[rising] + np.einsum("pl,pl->p", theirs[rising], kept)) / (
            my_rest + kept @ mine
        )
        rose = higher > ratios[rising]
        rising, best, used = rising[rose], best[rose], used[rose]
        if not rising.size:
            break
        ratios[rising] = higher[rose]
        removed[rising, :delta] = np.where(used, candidates[best], NOTHING)
    return Reserves(ratios, removed)


def least_shares(weights: Floats, delta: int) -> Floats:
    """Return the least share of each row that removing δ of its columns leaves."""
    kept = np.sort(weights, axis=1)[:, : weights.shape[1] - delta]
    return np.asarray(kept.sum(axis=1) / weights.sum(axis=1), dtype=np.float64)


def error_of(weights: Floats, delta: int) -> Floats:
    """Return how far below the truth each row's reserves may be, as a share of them."""
    rounding = (8 * weights.shape[1] + 16 * delta) * UNIT_ROUNDOFF
    return np.asarray(rounding / least_shares(weights, delta), dtype=np.float64)
