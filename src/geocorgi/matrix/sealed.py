"""A matrix in integer weights: no rounding anywhere between what is judged and what is drawn.

Row i reports column k with probability ``w_ik / Σ_k w_ik``. A published matrix gives every row
the same total; pruning leaves integers out, so that afterwards the totals differ, and nothing
else changes. Whether the weights are private is the auditor's question, and it answers it in
exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.obfuscation_matrix import require_level, require_names

LARGEST_WEIGHT = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class SealedMatrix:
    """Integer weights of reporting each column's cell from each row's cell; read-only."""

    row_cells: tuple[str, ...]
    column_cells: tuple[str, ...]
    level: int
    weights: NDArray[np.uint64]

    def __post_init__(self) -> None:
        """Refuse weights from which nothing could be drawn."""
        for name in ("row_cells", "column_cells"):
            object.__setattr__(self, name, require_names(getattr(self, name), name))
        require_level(self.level)
        weights = np.array(self.weights)
        if weights.dtype != np.uint64:
            raise InvalidMatrix(f"sealed weights are unsigned 64-bit integers, not {weights.dtype}")
        if weights.shape != (len(self.row_cells), len(self.column_cells)):
            raise InvalidMatrix("the weights are not one for each row's and each column's cell")
        if (weights > LARGEST_WEIGHT).any():
            raise InvalidMatrix("a sealed weight is at most 2^62")
        if not weights.any(axis=1).all():
            raise InvalidMatrix("a row of sealed weights is all zero: nothing can be drawn from it")
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @property
    def row_totals(self) -> tuple[int, ...]:
        """The sum of each row, exactly; more than 64 bits are needed at times."""
        return tuple(sum(row) for row in self.weights.tolist())
