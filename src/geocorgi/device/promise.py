"""Epsilon from a promise in metres, and back: what it is worth on a map's real prior.

Three answers, from the plain to the real. The *radius* within which a report changes the odds of
two places by a factor of four at most needs no prior. The *expected error* of the best adversary
who knows the map's prior is computed for a mechanism: the universal one, or the matrices of a
forest. The *least error* holds for every mechanism of that epsilon, after every report.

An average over a map weighs subtrees by their prior: how likely somebody is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from geocorgi.errors import PolicyNotMet
from geocorgi.matrix.adversary import (
    error_without_a_report_km,
    expected_error_km,
    least_error_km,
)
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.tree import distances
from geocorgi.wire.public_map import PublicMap

SMALLEST_PER_KM, LARGEST_PER_KM = 1e-3, 1e3
HALVINGS = 24  # of a ratio of a million: the answer is right to a millionth
MOST_LEAVES = 2_401


@dataclass(frozen=True, slots=True)
class Errors:
    """The adversary's errors at one privacy level of a map, in km."""

    privacy_level: int
    epsilon_per_km: float
    mean_km: float
    worst_subtree_km: float
    any_mechanism_km: float
    without_a_report_km: float


def errors_of_universal(public_map: PublicMap, level: int, epsilon_per_km: float) -> Errors:
    """Return the errors if reports are drawn from the universal mechanism."""

    def error(leaves: tuple[str, ...], priors: distances.Table) -> float:
        table = distances.between_cells(leaves)
        matrix = exponential_matrix(leaves, table, epsilon_per_km)
        return expected_error_km(matrix, priors, table)

    return _errors(public_map, level, epsilon_per_km, error)


def errors_of_forest(public_map: PublicMap, forest: PrivacyForest) -> Errors:
    """Return the errors if reports are drawn from a forest's matrices before pruning."""
    by_leaf = {matrix.row_cells[0]: matrix for matrix in forest.matrices.values()}

    def error(leaves: tuple[str, ...], priors: distances.Table) -> float:
        return expected_error_km(by_leaf[leaves[0]], priors, distances.between_cells(leaves))

    return _errors(public_map, forest.privacy_level, forest.epsilon_per_km, error)


def epsilon_for_error(public_map: PublicMap, level: int, wished_km: float) -> Errors:
    """Return the largest epsilon at which the universal mechanism's mean error is the wished one.

    The error is measured at the answer, whatever it does in between; a wish that not even silence
    grants is refused.
    """
    low, high = SMALLEST_PER_KM, LARGEST_PER_KM
    found = errors_of_universal(public_map, level, low)
    if found.mean_km < wished_km:
        raise PolicyNotMet(
            f"at level {level} an adversary with the map's prior errs by "
            f"{found.without_a_report_km * 1000:.0f} m without any report: choose a higher level"
        )
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        tried = errors_of_universal(public_map, level, middle)
        if tried.mean_km >= wished_km:
            low, found = middle, tried
        else:
            high = middle
    return found


def levels_to_judge(public_map: PublicMap) -> tuple[int, ...]:
    """Return the privacy levels whose subtrees are small enough to be judged at once."""
    return tuple(
        level
        for level in range(1, public_map.height + 1)
        if max(subtree.count(0) for subtree in public_map.subtrees(level)) <= MOST_LEAVES
    )


def _errors(
    public_map: PublicMap,
    level: int,
    epsilon_per_km: float,
    error_km: Callable[[tuple[str, ...], distances.Table], float],
) -> Errors:
    shares, errors, least, silent = [], [], [], []
    for subtree in public_map.subtrees(level):
        priors = public_map.priors_below(subtree)
        weights, table = priors.probabilities, distances.between_cells(subtree.leaves)
        shares.append(float(priors.weights.sum()))
        errors.append(error_km(subtree.leaves, weights))
        least.append(least_error_km(weights, table, epsilon_per_km))
        silent.append(error_without_a_report_km(weights, table))
    shares = shares if any(shares) else [1.0] * len(shares)
    total = math.fsum(shares)
    return Errors(
        level,
        epsilon_per_km,
        math.fsum(s * e for s, e in zip(shares, errors, strict=True)) / total,
        min(errors),
        min(least),
        math.fsum(s * e for s, e in zip(shares, silent, strict=True)) / total,
    )
