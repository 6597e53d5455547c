"""The obfuscation matrix Z (Paper: §2.1, Eq. 1 and 5, equ:probabilityunit1).

Rows are real cells, columns reported ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix

# Solvers leave row sums off by 1e-9 and six printed digits by more. What is beyond this bound is
# refused; what is within it is never forgiven either: the auditor judges each row divided by its
# exact sum, which is what a draw from that row does.
ROW_SUM_BOUND = 1e-6
LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, eq=False)
class ObfuscationMatrix:
    """Probabilities of reporting each column's cell from each row's cell.

    Square when it is born; pruning takes columns (and rows) away. ``level`` is the tree level
    at which its cells stand. The array is copied and read-only.
    """

    row_cells: tuple[str, ...]
    column_cells: tuple[str, ...]
    level: int
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse numbers that are no obfuscation matrix."""
        for name in ("row_cells", "column_cells"):
            object.__setattr__(self, name, require_names(getattr(self, name), name))
        require_level(self.level)
        probabilities = _require_probabilities(self.probabilities)
        expected = (len(self.row_cells), len(self.column_cells))
        if probabilities.shape != expected:
            raise InvalidMatrix(
                f"the matrix is {probabilities.shape[0]} × {probabilities.shape[1]} but its cells "
                f"name {expected[0]} rows and {expected[1]} columns"
            )
        probabilities.setflags(write=False)
        object.__setattr__(self, "probabilities", probabilities)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The rows as the auditor reads them: numbers to be divided by their row's sum."""
        return self.probabilities

    def row(self, cell: str) -> NDArray[np.float64]:
        """Return the distribution of the reports from ``cell``."""
        try:
            position = self.row_cells.index(cell)
        except ValueError:
            raise InvalidMatrix("the matrix has no row for the cell asked for") from None
        row: NDArray[np.float64] = self.probabilities[position]
        return row


def require_level(level: int) -> int:
    """Return the level at which a matrix stands, or refuse it."""
    if isinstance(level, bool) or not isinstance(level, int) or level < 0:
        raise InvalidMatrix(f"a matrix stands at a level from 0 on, not {level!r}")
    return level


def require_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the cells of rows or columns, or say what is wrong with them."""
    names = tuple(names)
    if not names:
        raise InvalidMatrix(f"{what} is empty: a matrix has at least one row and one column")
    if not all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME for name in names):
        raise InvalidMatrix(f"{what} are names of 1 to {LONGEST_NAME} characters")
    if len(set(names)) != len(names):
        raise InvalidMatrix(f"{what} name a cell twice")
    return names


def _require_probabilities(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a fresh float copy of the numbers, or say what is wrong with them."""
    try:
        table = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidMatrix("the matrix is not a table of numbers") from None
    if table.ndim != 2:
        raise InvalidMatrix(f"a matrix has rows and columns, not {table.ndim} dimensions")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise InvalidMatrix(f"row {row}, column {column} is not a finite number")
    if (table < 0).any():
        row, column = np.argwhere(table < 0)[0]
        raise InvalidMatrix(f"row {row}, column {column} is negative: {table[row, column]:.3g}")
    sums = table.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > ROW_SUM_BOUND:
        raise InvalidMatrix(
            f"row {worst} sums to {sums[worst]:.9g}; every row sums to one within "
            f"{ROW_SUM_BOUND:g} (divide each row by its sum, or write more digits)"
        )
    return table
