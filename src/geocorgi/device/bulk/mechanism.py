"""The mechanism of a release as a folder: accepted, pruned and audited once, for any worker.

It holds no place of any user. ``index.json`` names the leaves, the matrices with their rows and
columns, and what must not be reported; beside it lie the weights, a file for each subtree, of which
only those are read in which somebody was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geocorgi.device.sampling import draw_many
from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.matrix.sealed import SealedMatrix

INDEX = "index.json"
NO_ROW = -1


def write_mechanism(
    folder: Path, matrices: Iterable[tuple[str, SealedMatrix]], leaves: Sequence[str],
    removed: Iterable[str],
) -> None:  # fmt: skip
    """Write the pruned matrices of all subtrees, by their roots; the index last."""
    named = {}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for root, matrix in matrices:
            np.save(folder / f"{root}.npy", matrix.weights, allow_pickle=False)
            named[root] = {"rows": matrix.row_cells, "columns": matrix.column_cells}
    except OSError as refusal:
        raise BadFile(f"cannot write the mechanism: {refusal.strerror}") from None
    index = {"leaves": list(leaves), "matrices": named, "removed": sorted(removed)}
    write_atomically(folder / INDEX, json.dumps(index).encode())


def has_mechanism(folder: Path) -> bool:
    """Return whether a mechanism lies there whole."""
    return (folder / INDEX).exists()


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Which row of which matrix a leaf has, by the leaf's position, and what is drawn from it."""

    folder: Path
    leaves: tuple[str, ...]
    roots: tuple[str, ...]
    matrix_of: NDArray[np.intp]
    row_of: NDArray[np.intp]
    removed: frozenset[str]
    _names: dict[str, dict[str, list[str]]]
    _read: dict[str, SealedMatrix] = field(default_factory=dict)

    def draw(self, places: NDArray[np.int64]) -> list[str]:
        """Return a fresh draw for each position of a leaf."""
        drawn: list[str] = [""] * len(places)
        matrices = self.matrix_of[places]
        for number in np.unique(matrices).tolist():
            matrix = self._matrix(self.roots[number])
            members = np.flatnonzero(matrices == number)
            columns = draw_many(matrix, self.row_of[places[members]])
            for member, column in zip(members.tolist(), columns.tolist(), strict=True):
                drawn[member] = matrix.column_cells[column]
        return drawn

    def _matrix(self, root: str) -> SealedMatrix:
        if root not in self._read:
            names = self._names[root]
            weights = np.load(self.folder / f"{root}.npy", allow_pickle=False)
            self._read[root] = SealedMatrix(
                tuple(names["rows"]), tuple(names["columns"]), 0, weights
            )
        return self._read[root]


def read_mechanism(folder: Path) -> Mechanism:
    """Return the mechanism that lies in the folder."""
    index = json.loads((folder / INDEX).read_bytes())
    leaves, named = tuple(index["leaves"]), index["matrices"]
    position = {leaf: place for place, leaf in enumerate(leaves)}
    matrix_of = np.full(len(leaves), NO_ROW, dtype=np.intp)
    row_of = np.full(len(leaves), NO_ROW, dtype=np.intp)
    for number, root in enumerate(named):
        places = [position[cell] for cell in named[root]["rows"]]
        matrix_of[places] = number
        row_of[places] = np.arange(len(places))
    removed = frozenset(index["removed"])
    return Mechanism(folder, leaves, tuple(named), matrix_of, row_of, removed, named)
