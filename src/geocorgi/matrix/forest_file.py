"""Privacy forests as bytes: the same forest is the same bytes, and no others are read.

One safetensors file: for each subtree a tensor (uint64, row-major), named by its root cell, in
ascending order; text metadata beside them. The header is written here, canonically (sorted keys,
no clock, host, path or duration). Reading is strict: sizes are bounded before anything of that
size is looked at, and what was read must be, byte for byte, what writing it would give.

Metadata: ``format``, ``distance`` (its definition), ``map_id``, ``request`` (a JSON object),
``level`` (at which the matrices' cells stand), ``total`` (every row's sum), and as JSON objects by
root: ``cells`` (row order), ``columns`` (where fewer cells may be reported) and ``certificates``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import BadFile, InvalidForest, InvalidInput
from geocorgi.files import write_atomically
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.geo_ind import MOST_CELLS
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import distances

FORMAT = "geocorgi privacy forest 1"
LARGEST_FILE_BYTES = 1_000_000_000
LARGEST_HEADER_BYTES = 64_000_000
MOST_SUBTREES = 20_000
REQUEST_FIELDS = ("privacy_level", "filter", "delta", "rows", "epsilon_per_km")


def write_forest(path: Path, forest: PrivacyForest) -> None:
    """Write the file, whole or not at all."""
    write_atomically(path, forest_bytes(forest))


def forest_bytes(forest: PrivacyForest) -> bytes:
    """Return the one sequence of bytes that stands for this forest."""
    parts: list[bytes] = []
    header: dict[str, Any] = {"__metadata__": _metadata(forest)}
    end = 0
    for root, matrix in forest.matrices.items():
        parts.append(np.ascontiguousarray(matrix.weights, dtype="<u8").tobytes())
        offsets = [end, end + len(parts[-1])]
        shape = list(matrix.weights.shape)
        header[root] = {"data_offsets": offsets, "dtype": "U64", "shape": shape}
        end = offsets[1]
    text = _json(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def read_forest(path: Path) -> PrivacyForest:
    """Return the forest in a file, or refuse it."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise BadFile(f"{path.name} is larger than any forest: {LARGEST_FILE_BYTES:,} bytes")
        content = path.read_bytes()
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
    try:
        return forest_from_bytes(content)
    except InvalidForest as refusal:
        raise BadFile(f"{path.name}: {refusal}") from refusal


def forest_from_bytes(content: bytes) -> PrivacyForest:
    """Return the forest that the bytes stand for, or raise InvalidForest."""
    header, data = _parted(content)
    try:
        forest = _forest(header, data)
        same = forest_bytes(forest) == content
    except InvalidForest:
        raise
    except InvalidInput as refusal:
        raise InvalidForest(f"this is no privacy forest: {refusal}") from refusal
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as damage:
        raise InvalidForest("this is no privacy forest: its header is incomplete") from damage
    if not same:
        raise InvalidForest("this forest is not written as forests are: it is not believed")
    return forest


def _metadata(forest: PrivacyForest) -> dict[str, str]:
    levels = {matrix.level for matrix in forest.matrices.values()}
    if len(levels) != 1:
        raise InvalidForest("the forest's matrices stand at different levels")
    columns = {
        root: list(matrix.column_cells)
        for root, matrix in forest.matrices.items()
        if matrix.column_cells != matrix.row_cells
    }
    request = {
        "delta": forest.delta,
        "epsilon_per_km": forest.epsilon_per_km,
        "filter": forest.filter,
        "privacy_level": forest.privacy_level,
        "rows": forest.rows.value,
    }
    return {
        "cells": _json({root: list(one.row_cells) for root, one in forest.matrices.items()}),
        "certificates": _json({root: dict(one) for root, one in forest.certificates.items()}),
        "columns": _json(columns),
        "distance": distances.DEFINITION,
        "format": FORMAT,
        "level": str(levels.pop()),
        "map_id": forest.map_id,
        "request": _json(request),
        "total": str(forest.total),
    }


def claims_of(path: Path) -> tuple[Any, ...]:
    """Return which map and which request a file says that it is for; nothing of it is checked."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            metadata = json.loads(file.read(min(length, LARGEST_HEADER_BYTES)))["__metadata__"]
        request = json.loads(metadata["request"])
        return (metadata["map_id"], *(request[name] for name in REQUEST_FIELDS))
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
    except (struct.error, KeyError, ValueError, TypeError, RecursionError):
        raise InvalidForest("this is no privacy forest: its header is incomplete") from None


def _parted(content: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the header and the tensors' bytes."""
    if not 8 <= len(content) <= LARGEST_FILE_BYTES:
        raise InvalidForest("this is no privacy forest: it is empty or too large")
    (length,) = struct.unpack_from("<Q", content)
    if not 0 < length <= min(LARGEST_HEADER_BYTES, len(content) - 8):
        raise InvalidForest("this is no privacy forest: its header has an impossible length")
    try:
        header = json.loads(content[8 : 8 + length].decode("ascii"))
    except (ValueError, RecursionError):
        raise InvalidForest("this is no privacy forest: its header is not JSON") from None
    if not isinstance(header, dict) or not 1 < len(header) <= MOST_SUBTREES + 1:
        raise InvalidForest(f"a forest has 1 to {MOST_SUBTREES:,} subtrees")
    return header, memoryview(content)[8 + length :]


def _forest(header: dict[str, Any], data: memoryview) -> PrivacyForest:
    metadata = header["__metadata__"]
    if metadata["format"] != FORMAT:
        raise InvalidForest(f"it is of another format than '{FORMAT}'")
    if metadata["distance"] != distances.DEFINITION:
        raise InvalidForest("it is over other distances than those of this version")
    request = json.loads(metadata["request"])
    rows, columns = (json.loads(metadata[name]) for name in ("cells", "columns"))
    matrices = {}
    for root in sorted(header.keys() - {"__metadata__"}):
        names = tuple(rows[root])
        reported = tuple(columns.get(root, names))
        weights = _tensor(header[root], data, (len(names), len(reported)))
        matrices[root] = SealedMatrix(names, reported, int(metadata["level"]), weights)
    return PrivacyForest(
        map_id=metadata["map_id"],
        privacy_level=request["privacy_level"],
        filter=request["filter"],
        delta=request["delta"],
        rows=Rows(request["rows"]),
        epsilon_per_km=request["epsilon_per_km"],
        matrices=matrices,
        certificates=json.loads(metadata["certificates"]),
    )


def _tensor(
    said: Mapping[str, Any], data: memoryview, shape: tuple[int, int]
) -> NDArray[np.uint64]:
    """Return a view of one tensor's bytes, which are really there."""
    first, last = said["data_offsets"]
    if said["dtype"] != "U64" or said["shape"] != list(shape) or max(shape) > MOST_CELLS:
        raise InvalidForest("a tensor of the forest is not one number for each row and column")
    if not (0 <= first <= last <= len(data) and last - first == 8 * shape[0] * shape[1]):
        raise InvalidForest("a tensor of the forest lies outside of its bytes")
    return np.frombuffer(data[first:last], dtype="<u8").astype(np.uint64).reshape(shape)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
