"""Reporting coarser cells than those the matrix is about (Paper: §4.5, Alg. 2).

Two ways. :func:`coarsen` draws a leaf from the leaf's own row and reports its ancestor: columns
are added up, rows stay leaves. That is post-processing, so it keeps every epsilon that the matrix
kept in distances between leaves, after pruning too; on sealed weights it is addition of integers.
:func:`average` is the paper's reduction, Eq. (17): rows are averaged by the prior as well, and rows
and columns are coarse cells. Its proof (Prop. 4.6) drops the distances, and it does *not* keep
epsilon: measure what it keeps with :func:`true_epsilon`, and say it.

A coarse cell is gone when all leaves below it are. The ``level`` of what is returned is the level
at which its columns stand, that is, at which is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.geo_ind import Mechanism, smallest_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import LARGEST_WEIGHT, SealedMatrix
from geocorgi.tree import cells, distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, restricted

Coarsened = TypeVar("Coarsened", ObfuscationMatrix, SealedMatrix)


@dataclass(frozen=True, slots=True)
class TrueEpsilon:
    """The smallest epsilons per km at which a reduced matrix is geo-indistinguishable.

    ``between_leaves`` is about what a user at a leaf really reports, ``between_rows`` about the
    centres of the cells that its rows name: the same where rows are leaves.
    """

    between_leaves_per_km: float
    between_rows_per_km: float


def coarsen(matrix: Coarsened, tree: LocationTree, level: int) -> Coarsened:
    """Return the matrix of drawing a leaf and reporting its ancestor at ``level``."""
    above, groups = _groups(matrix.column_cells, tree, level)
    if isinstance(matrix, SealedMatrix):
        if max(matrix.row_totals) > LARGEST_WEIGHT:
            raise InvalidMatrix("a row's total is beyond 2^62: such weights are not added up")
        return SealedMatrix(matrix.row_cells, above, level, _summed(matrix.weights, groups))
    summed = _summed(matrix.probabilities, groups)
    return ObfuscationMatrix(matrix.row_cells, above, level, summed)


def average(
    matrix: ObfuscationMatrix | SealedMatrix, tree: LocationTree, level: int, priors: Priors
) -> ObfuscationMatrix:
    """Return the paper's reduced matrix (Paper: Eq. 17, eq:precisionReduction; Alg. 2).

    The priors are those of the leaves that are rows (more are ignored: after pruning, survivors'
    priors count). Rows of a coarse cell whose priors are all zero weigh alike, where Eq. (17)
    would divide by zero.
    """
    above, groups = _groups(matrix.row_cells, tree, level)
    by_prior = restricted(priors, matrix.row_cells).weights
    shares = _shares(by_prior, groups)
    rows = np.zeros((len(above), len(matrix.row_cells)))
    for place, members in enumerate(groups):
        rows[place, members] = shares[members]  # p_m / p_i
    reported, column_groups = _groups(matrix.column_cells, tree, level)
    leaf_rows = matrix.weights / matrix.weights.sum(axis=1, keepdims=True, dtype=np.float64)
    summed = rows @ _summed(leaf_rows, column_groups)
    return ObfuscationMatrix(above, reported, level, summed / summed.sum(axis=1, keepdims=True))


def true_epsilon(matrix: Mechanism, leaves: Sequence[str]) -> TrueEpsilon:
    """Measure what a reduced matrix keeps, with the auditor; nothing is assumed of how it was made.

    ``leaves`` are the real places: those of its rows, or the leaves below them.
    """
    own = smallest_epsilon(matrix.weights, distances.between_cells(matrix.row_cells))
    if tuple(leaves) == matrix.row_cells:
        return TrueEpsilon(own, own)
    places = {cell: place for place, cell in enumerate(matrix.row_cells)}
    resolution = cells.resolution_of(matrix.row_cells[0])
    try:
        rows = [places[cells.ancestor(leaf, resolution)] for leaf in leaves]
    except KeyError:
        raise InvalidMatrix("some leaf has no row: it lies below none of the rows' cells") from None
    leaf_rows = matrix.weights[rows]
    return TrueEpsilon(smallest_epsilon(leaf_rows, distances.between_cells(leaves)), own)


def _groups(
    leaves: Sequence[str], tree: LocationTree, level: int
) -> tuple[tuple[str, ...], list[list[int]]]:
    """Return the ancestors at ``level`` in ascending order, each with its leaves' positions."""
    if any(tree.level_of(leaf) for leaf in leaves):
        raise InvalidMatrix("precision is reduced from leaves: some cell is none of this tree's")
    groups: dict[str, list[int]] = {}
    for place, leaf in enumerate(leaves):
        groups.setdefault(tree.ancestor(leaf, level), []).append(place)
    above = tuple(sorted(groups))
    return above, [groups[cell] for cell in above]


def _summed(table: NDArray[Any], groups: list[list[int]]) -> NDArray[Any]:
    """Return the table with each group of columns added up."""
    return np.stack([table[:, members].sum(axis=1) for members in groups], axis=1)


def _shares(by_prior: NDArray[np.float64], groups: list[list[int]]) -> NDArray[np.float64]:
    shares = np.empty(len(by_prior))
    for members in groups:
        weights = by_prior[members]
        weights = weights if weights.any() else np.ones(len(members))
        shares[members] = weights / weights.sum()
    return shares
