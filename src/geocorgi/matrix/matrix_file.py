"""Reading an obfuscation matrix from a file that anybody may have written.

Three formats, told apart by the name's ending:

``.npz``
    arrays ``matrix`` and either ``cells`` (H3 cells, row order) or ``distances_km``. Pickled
    arrays are never loaded.
``.csv``
    a header ``cell,<cell>,<cell>…`` and a row for each real cell, beginning with its cell.
``.safetensors``
    a tensor ``matrix`` (float64) or ``weights`` (uint64), and in the metadata ``cells``, a JSON
    list in row order, and optionally ``level``.

The size is bounded from the file's own header before anything of that size is allocated.
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.matrix.geo_ind import MOST_CELLS, Mechanism
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells, distances

LARGEST_CSV_BYTES = MOST_CELLS**2 * 26
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class MatrixInFile:
    """A matrix and the distances between its rows' cells."""

    matrix: Mechanism
    distances_km: NDArray[np.float64]


def read_matrix(path: Path) -> MatrixInFile:
    """Return the matrix in the file, with its distances."""
    readers: dict[str, Callable[[Path], MatrixInFile]] = {
        ".npz": _read_npz,
        ".csv": _read_csv,
        ".safetensors": _read_safetensors,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise BadFile(
            f"{path.name} is of no known kind: expected a name ending in {', '.join(readers)}"
        )
    try:
        return reader(path)
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror or refusal}") from refusal
    except InvalidInput as refusal:
        raise BadFile(f"{path.name}: {refusal}") from refusal


def _read_npz(path: Path) -> MatrixInFile:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "matrix.npy" not in names or not names & {"cells.npy", "distances_km.npy"}:
                raise BadFile(
                    f"{path.name} lacks an array: expected 'matrix' and 'cells' or 'distances_km'"
                )
            wanted = ["matrix", "cells" if "cells.npy" in names else "distances_km"]
            matrix, other = (_array(archive, name) for name in wanted)
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as damage:
        raise BadFile(f"{path.name} is damaged or not an npz file of plain arrays") from damage
    if wanted[1] == "cells":
        return _with_cells(path, matrix, [str(cell) for cell in other.ravel().tolist()])
    names_of_rows = [f"row {n}" for n in range(len(matrix))]
    table = ObfuscationMatrix(tuple(names_of_rows), tuple(names_of_rows), 0, matrix)
    return MatrixInFile(table, np.asarray(other, dtype=np.float64))


def _array(archive: zipfile.ZipFile, name: str) -> Numbers:
    """Return one array of the archive, its size judged by its header before it is read."""
    with archive.open(f"{name}.npy") as member:
        version = npy.read_magic(member)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = read_header(member)
    if kind.hasobject:
        raise BadFile(f"the array '{name}' holds pickled objects, which are never loaded")
    if int(np.prod(shape)) > MOST_CELLS**2 or kind.itemsize > 64 * 4:
        raise BadFile(f"the array '{name}' is larger than {MOST_CELLS:,} × {MOST_CELLS:,} numbers")
    with archive.open(f"{name}.npy") as member:
        return np.asarray(npy.read_array(member, allow_pickle=False))


def _read_csv(path: Path) -> MatrixInFile:
    if path.stat().st_size > LARGEST_CSV_BYTES:
        raise BadFile(f"{path.name} is larger than any matrix of {MOST_CELLS:,} cells")
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            names = next(lines, [])[1:]
            row_names, rows = [], []
            for name, numbers in _csv_rows(lines, len(names)):
                row_names.append(name)
                rows.append(numbers)
        except (UnicodeDecodeError, csv.Error) as damage:
            raise BadFile(f"{path.name} is not a CSV file in UTF-8") from damage
        except ValueError as damage:
            raise BadFile(f"{path.name}, line {lines.line_num}: {damage}") from damage
    if row_names != names:
        raise BadFile(f"{path.name}: the rows' cells are not the header's cells in the same order")
    return _with_cells(path, np.array(rows), names)


def _csv_rows(lines: Iterator[list[str]], columns: int) -> Iterator[tuple[str, Numbers]]:
    if not 0 < columns <= MOST_CELLS:
        raise ValueError("expected a header 'cell,<cell>,<cell>…'")
    for line in lines:
        if len(line) != columns + 1:
            raise ValueError(f"expected a cell and {columns} numbers, found {len(line)} fields")
        yield line[0], np.array(line[1:], dtype=np.float64)


def _read_safetensors(path: Path) -> MatrixInFile:
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            names = json.loads(metadata.get("cells", "null"))
            level = int(metadata.get("level", "0"))
            kind = "weights" if "weights" in file.keys() else "matrix"  # noqa: SIM118
            shape = file.get_slice(kind).get_shape()
            if max(shape, default=0) > MOST_CELLS:
                raise BadFile(f"{path.name} holds more than {MOST_CELLS:,} cells")
            numbers = file.get_tensor(kind)
    except (SafetensorError, ValueError, RecursionError) as damage:
        raise BadFile(f"{path.name} is damaged or not a safetensors file of a matrix") from damage
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise BadFile(f"{path.name} has no metadata 'cells': a JSON list of cells in row order")
    return _with_cells(path, numbers, names, level)


def _with_cells(path: Path, numbers: Numbers, names: list[str], level: int = 0) -> MatrixInFile:
    if numbers.ndim != 2 or numbers.shape != (len(names), len(names)):
        shape = " × ".join(map(str, numbers.shape))
        raise BadFile(f"{path.name}: {len(names)} cells but a matrix of {shape}")
    row_cells = tuple(cells.require_cell(name) for name in names)
    value = SealedMatrix if numbers.dtype == np.uint64 else ObfuscationMatrix
    matrix = value(row_cells, row_cells, level, numbers)
    return MatrixInFile(matrix, distances.between_cells(row_cells))
