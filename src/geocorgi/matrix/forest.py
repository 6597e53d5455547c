"""The privacy forest: one sealed matrix for each subtree of a privacy level.

Paper: Alg. 3, fig:location_tree. It says for which request of which map it is. What its
certificates say is a claim: whoever uses a forest audits every matrix of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from geocorgi.errors import InvalidForest
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells

LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyForest:
    """Sealed matrices by their subtree's root, ascending; all rows have the same total.

    ``filter`` names the public filter whose cells are the columns, None where there is none.
    ``certificates`` hold, for each root, what its generator has to say; nothing of it is checked.
    """

    map_id: str
    privacy_level: int
    filter: str | None
    delta: int
    rows: Rows
    epsilon_per_km: float
    matrices: Mapping[str, SealedMatrix]
    certificates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse matrices that are no forest."""
        _require_request(self)
        object.__setattr__(self, "rows", Rows(self.rows))
        object.__setattr__(self, "epsilon_per_km", require_epsilon(self.epsilon_per_km))
        matrices = dict(sorted(self.matrices.items()))
        if not matrices:
            raise InvalidForest("a forest has one or more matrices")
        for root, matrix in matrices.items():
            _require_below(cells.require_cell(root), matrix)
        if len({total for matrix in matrices.values() for total in matrix.row_totals}) != 1:
            raise InvalidForest("the forest's rows have different totals: a published one has one")
        if len({cells.resolution_of(root) for root in matrices}) != 1:
            raise InvalidForest("the forest's subtrees are of different levels")
        if not self.certificates.keys() <= matrices.keys():
            raise InvalidForest("the forest has a certificate of a subtree that it does not have")
        certificates = dict(sorted(self.certificates.items()))
        object.__setattr__(self, "matrices", MappingProxyType(matrices))
        object.__setattr__(self, "certificates", MappingProxyType(certificates))

    @property
    def total(self) -> int:
        """The sum of every row."""
        return next(iter(self.matrices.values())).row_totals[0]


def _require_request(forest: PrivacyForest) -> None:
    for name, least in (("privacy_level", 1), ("delta", 0)):
        number = getattr(forest, name)
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise InvalidForest(f"a forest's {name} is a whole number from {least} on")
    for name in ("map_id", "filter"):
        text = getattr(forest, name)
        if name == "filter" and text is None:
            continue
        if not (isinstance(text, str) and 0 < len(text) <= LONGEST_NAME):
            raise InvalidForest(f"a forest's {name} is a text of 1 to {LONGEST_NAME} letters")
    if forest.rows not in set(Rows):
        raise InvalidForest("a forest's rows are 'keep' or 'drop'")


def _require_below(root: str, matrix: SealedMatrix) -> None:
    resolution = cells.resolution_of(root)
    for cell in matrix.row_cells:
        if cells.resolution_of(cell) <= resolution or cells.ancestor(cell, resolution) != root:
            raise InvalidForest("a matrix of the forest has a row that is not below its subtree")
    if not set(matrix.column_cells) <= set(matrix.row_cells):
        raise InvalidForest("a matrix of the forest reports a cell that is none of its rows")
