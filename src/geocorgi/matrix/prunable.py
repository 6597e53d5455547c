"""The auditor of δ-prunability, exact (Paper: Def. 4.2, def:deltaPrune, equ:epsilonij).

A matrix is δ-prunable when it is eps-Geo-Ind after every pruning of at most δ columns. The paper
calls the number of prunings exponential and samples. It need not be sampled: for rows i, j and a
column k the condition

    w_ik / T_i(S) ≤ e^{eps·d_ij} · w_jk / T_j(S),    T_i(S) the sum of what S leaves of row i,

is worst for the S that makes ``T_j(S) / T_i(S)`` largest, which is a linear-fractional problem
with a bound on the number of columns, solved exactly in a few rounds of sorting
(:mod:`geocorgi.matrix.prunable_reserve`).

Two readings of pruning. ``drop``: the rows of pruned cells leave too (Paper: §4.3), so S holds
neither i nor j. ``keep``: only columns leave, so S may hold both; the promise then covers a user
who stands in a removed cell.

Doubles, with a proved error, say which triples can be the worst; exact integers decide among
them. Nothing is shared with any generator. ``smallest_epsilon_per_km`` is the smallest double at
which the matrix is δ-prunable: at the next smaller one it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.log_ratios import Weights
from geocorgi.matrix.prunable_scan import PruningScan


class Rows(StrEnum):
    """What happens to the rows of pruned cells."""

    DROP = "drop"
    KEEP = "keep"


class WorstPruning(NamedTuple):
    """Removing the columns ``removed``, column k tells row i from row j best."""

    i: int
    j: int
    k: int
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a matrix promises after every pruning of at most ``delta`` columns."""

    epsilon_per_km: float
    delta: int
    rows: Rows
    holds: bool
    smallest_epsilon_per_km: float
    worst: WorstPruning | None


def certify(
    weights: Weights,
    distances_km: NDArray[np.float64],
    epsilon_per_km: float,
    delta: int,
    rows: Rows,
    columns: NDArray[np.intp] | None = None,
) -> Certificate:
    """Decide whether rows of weights are δ-prunable at epsilon, and at which epsilon they are.

    ``columns`` holds the position of each row's own column, −1 where it has none (a public filter
    leaves fewer columns than rows). A square matrix has its own columns on the diagonal.
    Raises InvalidMatrix where pruning could leave a row empty.
    """
    epsilon = require_epsilon(epsilon_per_km)
    own = _require_columns(weights, columns)
    distances = _require_distances(distances_km, len(weights))
    _require_enough(weights, delta)
    forbidden = own if Rows(rows) is Rows.DROP else None
    found = PruningScan(weights, distances, delta, forbidden).worst()
    return Certificate(
        epsilon_per_km=epsilon,
        delta=delta,
        rows=Rows(rows),
        holds=epsilon >= found.epsilon_per_km,
        smallest_epsilon_per_km=found.epsilon_per_km,
        worst=None if found.triple is None else WorstPruning(*found.triple, found.removed),
    )


def own_columns(row_cells: Sequence[str], column_cells: Sequence[str]) -> NDArray[np.intp]:
    """Return the position of each row's own column, −1 where it has none."""
    positions = {cell: at for at, cell in enumerate(column_cells)}
    return np.array([positions.get(cell, -1) for cell in row_cells], dtype=np.intp)


def _require_columns(weights: Weights, columns: NDArray[np.intp] | None) -> NDArray[np.intp]:
    if weights.ndim != 2 or not weights.size:
        raise InvalidMatrix(f"expected a table of weights, got shape {weights.shape}")
    if weights.dtype != np.uint64 and not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidMatrix("the weights hold a number that is negative or not finite")
    if columns is None:
        if weights.shape[0] != weights.shape[1]:
            raise InvalidMatrix("a matrix that is not square needs each row's own column")
        return np.arange(len(weights))
    columns = np.asarray(columns, dtype=np.intp)
    if (
        columns.shape != (len(weights),)
        or not ((columns >= -1) & (columns < weights.shape[1])).all()
    ):
        raise InvalidMatrix("the own columns are not one for each row, among the columns")
    return columns


def _require_distances(distances_km: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    distances = np.asarray(distances_km, dtype=np.float64)
    if distances.shape != (rows, rows):
        raise InvalidMatrix(f"expected {rows} × {rows} distances, got shape {distances.shape}")
    if not (np.isfinite(distances).all() and (distances >= 0).all()):
        raise InvalidMatrix("the distances hold a number that is negative or not finite")
    return distances


def _require_enough(weights: Weights, delta: int) -> None:
    """Refuse a matrix of which pruning could leave an empty row."""
    if isinstance(delta, bool) or not isinstance(delta, int) or delta < 0:
        raise InvalidMatrix(f"delta is a whole number from 0 on, not {delta!r}")
    fewest = int(np.count_nonzero(weights, axis=1).min())
    if fewest <= delta:
        raise InvalidMatrix(
            f"a row has {fewest} positive columns: pruning {delta} of them could leave none"
        )
