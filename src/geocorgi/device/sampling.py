"""Drawing from sealed weights: what was certified is what is drawn.

One uniform integer below the row's total decides, from the operating system's generator
(``secrets`` rejects out-of-range numbers instead of taking a remainder). No float is involved.
"""

from __future__ import annotations

import secrets

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.sealed import SealedMatrix


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
