"""Reading an obfuscation matrix from a file that anybody may have written.

Three formats, told apart by the name's ending:

``.npz``
    arrays ``matrix`` and either ``cells`` (H3 cells, row order) or ``distances_km``, which is
    ignored beside ``cells``. Pickled arrays are never loaded.
``.csv``
    a header ``cell,<cell>,<cell>…`` and a row for each real cell, beginning with its cell.
``.safetensors``
    a tensor ``matrix`` (float64) or ``weights`` (uint64), and in the metadata ``cells``, a JSON
    list in row order, and optionally ``level``; or a sealed matrix as geocorgi writes it.

Whole numbers of 64 bits without a sign (``uint64``) are sealed weights, in whichever format that
has them. The size is bounded from the file's own header before anything of that size is allocated.
"""

from __future__ import annotations

import csv
import io
import json
import math
import stat
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from safetensors import safe_open

from geocorgi.errors import BadFile, GeocorgiError, InvalidInput, InvalidMatrix
from geocorgi.matrix.geo_ind import MOST_CELLS, Mechanism
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealed_file import FORMAT, read_sealed
from geocorgi.tree import cells, distances

LARGEST_CSV_BYTES = MOST_CELLS**2 * 26
LARGEST_ARRAY_BYTES = MOST_CELLS**2 * 16
LARGEST_ARRAY_HEADER_BYTES = 16_384
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
        _require_plain(path)
        path.open("rb").close()  # says why it cannot, which the libraries below do not all do
        return reader(path)
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror or refusal}") from refusal
    except InvalidInput as refusal:
        raise BadFile(f"{path.name}: {refusal}") from refusal
    except GeocorgiError:
        raise
    except Exception as damage:  # zip, npy and safetensors raise two dozen kinds at damaged bytes
        raise BadFile(
            f"{path.name} is damaged or not a {path.suffix.lower()} file of a matrix"
        ) from damage


def _require_plain(path: Path) -> None:
    """Refuse a pipe or a device: it may never end, and what it holds cannot be read twice."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise BadFile(f"{path.name} is a pipe or a device: copy what it holds into a file first")


def _read_npz(path: Path) -> MatrixInFile:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if "matrix.npy" not in names or not names & {"cells.npy", "distances_km.npy"}:
            raise InvalidMatrix(
                "an array is lacking: expected 'matrix' and 'cells' or 'distances_km'"
            )
        wanted = ["matrix", "cells" if "cells.npy" in names else "distances_km"]
        matrix, other = (_array(archive, name) for name in wanted)
    if wanted[1] == "cells":
        return _with_cells(matrix, _texts(other))
    if other.dtype.kind not in "fiu" or other.shape != matrix.shape:
        raise InvalidMatrix("'distances_km' is not one number for each pair of the matrix's rows")
    table = _mechanism(matrix, [f"row {n}" for n in range(matrix.shape[0])])
    return MatrixInFile(table, np.asarray(other, dtype=np.float64))


def _array(archive: zipfile.ZipFile, name: str) -> Numbers:
    """Return one array of the archive, its size judged by its header before it is read."""
    with archive.open(f"{name}.npy") as member:
        head = io.BytesIO(member.read(LARGEST_ARRAY_HEADER_BYTES))
    version = npy.read_magic(head)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, kind = read_header(head)
    if kind.hasobject:
        raise InvalidMatrix(f"the array '{name}' holds pickled objects, which are never loaded")
    if not (len(shape) in (1, 2) and all(0 < size <= MOST_CELLS for size in shape)):
        raise InvalidMatrix(
            f"the array '{name}' has {' × '.join(map(str, shape))} entries; "
            f"expected 1 to {MOST_CELLS:,} rows and as many columns"
        )
    if math.prod(shape) * kind.itemsize > LARGEST_ARRAY_BYTES:
        raise InvalidMatrix(f"the array '{name}' has {kind.itemsize} bytes an entry: too many")
    with archive.open(f"{name}.npy") as member:
        return np.asarray(npy.read_array(member, allow_pickle=False))


def _read_csv(path: Path) -> MatrixInFile:
    if path.stat().st_size > LARGEST_CSV_BYTES:
        raise InvalidMatrix(f"the file is larger than any matrix of {MOST_CELLS:,} cells")
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            names = next(lines, [])[1:]
            row_names, rows = [], []
            for name, numbers in _csv_rows(lines, len(names)):
                row_names.append(name)
                rows.append(numbers)
        except (UnicodeDecodeError, csv.Error) as damage:
            raise InvalidMatrix("the file is not CSV in UTF-8") from damage
        except ValueError as damage:
            raise InvalidMatrix(f"line {lines.line_num}: {damage}") from damage
    if row_names != names:
        raise InvalidMatrix("the rows' cells are not the header's cells in the same order")
    return _with_cells(np.array(rows), names)


def _csv_rows(lines: Iterator[list[str]], columns: int) -> Iterator[tuple[str, Numbers]]:
    if not 0 < columns <= MOST_CELLS:
        raise ValueError("expected a header 'cell,<cell>,<cell>…'")
    for row, line in enumerate(filter(None, lines)):
        if len(line) != columns + 1:
            raise ValueError(f"expected a cell and {columns} numbers, found {len(line)} fields")
        if row == columns:
            raise ValueError(f"more rows than the {columns} cells of the header")
        yield line[0], _numbers(line[1:])


def _numbers(fields: list[str]) -> Numbers:
    try:
        return np.array(fields, dtype=np.float64)
    except ValueError:
        raise ValueError("a field after the first is not a number") from None


def _read_safetensors(path: Path) -> MatrixInFile:
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        if metadata.get("format") == FORMAT:
            return _read_sealed(path)
        kind = "weights" if "weights" in file.keys() else "matrix"  # noqa: SIM118
        if kind not in file.keys():  # noqa: SIM118
            raise InvalidMatrix("a tensor is lacking: expected 'matrix' or 'weights'")
        if max(file.get_slice(kind).get_shape(), default=0) > MOST_CELLS:
            raise InvalidMatrix(f"the tensor '{kind}' has more than {MOST_CELLS:,} rows or columns")
        numbers = file.get_tensor(kind)
    names = _from_json(metadata, "cells", default="null")
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise InvalidMatrix("expected metadata 'cells': a JSON list of cells in row order")
    level = _from_json(metadata, "level", default="0")
    if not (type(level) is int and 0 <= level <= cells.FINEST_RESOLUTION):
        raise InvalidMatrix(f"the metadata 'level' is not one from 0 to {cells.FINEST_RESOLUTION}")
    return _with_cells(numbers, names, level)


def _read_sealed(path: Path) -> MatrixInFile:
    sealed = read_sealed(path)
    return MatrixInFile(sealed.matrix, sealed.distances_km)


def _from_json(metadata: dict[str, str], key: str, default: str) -> Any:
    try:
        return json.loads(metadata.get(key, default))
    except (ValueError, RecursionError):
        raise InvalidMatrix(f"the metadata '{key}' is not JSON") from None


def _texts(names: Numbers) -> list[str]:
    """Return the cells of an array of text, or of bytes in ASCII."""
    if names.dtype.kind not in "US":
        raise InvalidMatrix(f"'cells' is an array of {names.dtype}; expected text")
    try:
        return [str(name) for name in names.ravel().astype("U").tolist()]
    except UnicodeDecodeError:
        raise InvalidMatrix("'cells' holds bytes that are not ASCII") from None


def _with_cells(numbers: Numbers, names: list[str], level: int = 0) -> MatrixInFile:
    row_cells = tuple(_cell(number, name) for number, name in enumerate(names, start=1))
    matrix = _mechanism(numbers, row_cells, level)
    return MatrixInFile(matrix, distances.between_cells(row_cells))


def _cell(number: int, name: str) -> str:
    try:
        return cells.require_cell(name)
    except InvalidInput as refusal:
        raise InvalidMatrix(f"cell {number}: {refusal}") from None


def _mechanism(numbers: Numbers, names: Sequence[str], level: int = 0) -> Mechanism:
    """Return the square matrix of the names, sealed if its numbers are sealed weights."""
    if numbers.shape != (len(names), len(names)):
        shape = " × ".join(map(str, numbers.shape))
        raise InvalidMatrix(f"{len(names)} cells but a matrix of {shape}")
    if numbers.dtype.kind not in "fiu" or numbers.dtype.itemsize > 8:  # rounded is not judged
        raise InvalidMatrix(
            f"the matrix holds {numbers.dtype}; expected floats of at most 64 bits, or uint64"
        )
    value = SealedMatrix if numbers.dtype == np.uint64 else ObfuscationMatrix
    return value(tuple(names), tuple(names), level, numbers)
