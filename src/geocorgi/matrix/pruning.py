"""Customising a matrix: cells leave it, what remains is the matrix (Paper: §4.3, Matrix Pruning).

Two kinds of matrices are pruned. Of a sealed one integers are left out and nothing else happens:
its rows' totals differ afterwards, and a draw reads each row as quotients by its own total. Of a
matrix in floating point the entries that remain are multiplied by ``1 / (1 - Σ_{l∈S} z_il)``, as
printed; the factor is computed as one over the survivors' sum, which is the same number where rows
sum to one and is not destroyed by cancellation where hardly anything survives.

With ``Rows.DROP``, the paper's way, the removed cells leave as real places too. With ``Rows.KEEP``
only columns leave: whoever stands in a removed place still has a row to draw from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidPruning
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells

Prunable = TypeVar("Prunable", ObfuscationMatrix, SealedMatrix)


def leaves_below(rules: Iterable[str], leaves: Sequence[str]) -> tuple[str, ...]:
    """Return those of the leaves that a rule names, itself or by one of its ancestors.

    Cells of rules that have none of the leaves below them, such as those of other subtrees, name
    nothing here.
    """
    named = {cells.require_cell(rule) for rule in rules}
    resolutions = sorted({cells.resolution_of(rule) for rule in named})
    return tuple(
        leaf
        for leaf in leaves
        if any(
            cells.ancestor(leaf, resolution) in named
            for resolution in resolutions
            if resolution <= cells.resolution_of(leaf)
        )
    )


def prune(matrix: Prunable, removed: Collection[str], rows: Rows) -> Prunable:
    """Return the matrix without the removed cells, or refuse the set.

    Every cell of the set is one of the matrix's own (``leaves_below`` finds them for rules on
    coarse cells). The matrix comes back with its own row cells, column cells and row totals.
    """
    gone = _require_own(removed, matrix)
    columns = _staying(matrix.column_cells, gone)
    stays = np.arange(len(matrix.row_cells))
    if rows is Rows.DROP:
        stays = _staying(matrix.row_cells, gone)
    if not len(columns) or not len(stays):
        raise InvalidPruning("nothing is left of the matrix: remove fewer cells")
    survivors = matrix.weights[np.ix_(stays, columns)]
    if not survivors.any(axis=1).all():
        raise InvalidPruning(
            "a row that stays would have nothing left to report: remove fewer cells"
        )
    row_cells = tuple(matrix.row_cells[place] for place in stays)
    column_cells = tuple(matrix.column_cells[place] for place in columns)
    if isinstance(matrix, SealedMatrix):
        return SealedMatrix(row_cells, column_cells, matrix.level, survivors)
    return ObfuscationMatrix(row_cells, column_cells, matrix.level, _renormalised(survivors))


def _renormalised(survivors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows that sum to one; divided by the largest first, for tiny sums are no divisors."""
    shares = survivors / survivors.max(axis=1, keepdims=True)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)


def _require_own(removed: Collection[str], matrix: Prunable) -> frozenset[str]:
    gone = frozenset(removed)
    if unknown := len(gone - set(matrix.row_cells) - set(matrix.column_cells)):
        raise InvalidPruning(
            f"{unknown} of the {len(gone)} cells to remove are not the matrix's own; "
            "expand rules on coarser cells to its leaves first"
        )
    return gone


def _staying(names: Sequence[str], gone: frozenset[str]) -> NDArray[np.intp]:
    return np.array([place for place, name in enumerate(names) if name not in gone], dtype=np.intp)
