"""Drawing from sealed weights: what was certified is what is drawn.

One uniform integer below the row's total decides, from the operating system's generator
(``secrets`` rejects out-of-range numbers instead of taking a remainder). No float is involved.
Many draws at once are made the same way, in arrays of integers.
"""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.sealed import SealedMatrix

LARGEST_TOTAL = 2**63


def draw(matrix: SealedMatrix, real_cell: str) -> str:
    """Return a cell to report, drawn from the row of the real one."""
    try:
        row = matrix.row_cells.index(real_cell)
    except ValueError:  # without naming the cell: it is where somebody is
        raise InvalidMatrix("the matrix has no row for the real cell") from None
    weights = matrix.weights[row].tolist()
    ticket = secrets.randbelow(sum(weights))
    for column_cell, weight in zip(matrix.column_cells, weights, strict=True):
        ticket -= weight
        if ticket < 0:
            return column_cell
    raise AssertionError("a ticket below the row's total lies below some column's end")


def draw_many(matrix: SealedMatrix, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for each position of a row, the position of a column drawn from that row."""
    if matrix.weights.sum(axis=1, dtype=np.float64).max() > LARGEST_TOTAL:  # half of what fits
        raise InvalidMatrix("a row's total is beyond 64 bits: such rows are drawn from one by one")
    ends = np.cumsum(matrix.weights, axis=1, dtype=np.uint64)
    tickets = _tickets_below(ends[rows, -1])
    columns = np.empty(len(rows), dtype=np.intp)
    order = np.argsort(rows, kind="stable")
    different, starts = np.unique(rows[order], return_index=True)
    for row, members in zip(different, np.split(order, starts[1:]), strict=True):
        columns[members] = np.searchsorted(ends[row], tickets[members], side="right")
    return columns


def _tickets_below(totals: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a uniform integer below each total: random bits, and again where they are too many."""
    masks = totals - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> np.uint64(shift)
    tickets = np.empty_like(totals)
    waiting = np.arange(len(totals))
    while len(waiting):
        bits = np.frombuffer(secrets.token_bytes(8 * len(waiting)), dtype="<u8") & masks[waiting]
        tickets[waiting] = bits
        waiting = waiting[bits >= totals[waiting]]
    return tickets
