"""Sealed matrices as files: the same matrix is the same bytes.

The format is safetensors: one tensor ``weights`` (uint64, row-major) and text metadata. The header
is written here, canonically (sorted keys, no clock, host, path or duration), because the library
writes metadata in an arbitrary order; it is read with the library. Nothing in a file is believed
before it is checked, and what a file says about its own privacy is never checked at all: audit it.

Metadata: ``cells`` (JSON list, row order), ``columns`` (likewise, only where fewer cells may be
reported), ``points`` (JSON list of latitude and longitude, only where the cells are no H3 cells),
``level``, ``total`` (every row's sum), ``epsilon_per_km``, ``distance`` (its definition),
``provenance`` and ``audit`` (JSON objects), ``format``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.files import write_atomically
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.geo_ind import MOST_CELLS
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells, distances

FORMAT = "geocorgi sealed matrix 1"
LARGEST_FILE_BYTES = MOST_CELLS**2 * 8 + 4_000_000
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class SealedFile:
    """What a sealed file says: the matrix, for which epsilon, between which places."""

    matrix: SealedMatrix
    epsilon_per_km: float
    points: Points | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    audit: Mapping[str, Any] = field(default_factory=dict)

    @property
    def distances_km(self) -> distances.Table:
        """The distances between the rows' places, computed here."""
        if self.points is None:
            return distances.between_cells(self.matrix.row_cells)
        latitudes, longitudes = zip(*self.points, strict=True)
        return distances.between_points(latitudes, longitudes)


def write_sealed(path: Path, sealed: SealedFile) -> None:
    """Write the file, whole or not at all."""
    write_atomically(path, sealed_bytes(sealed))


def sealed_bytes(sealed: SealedFile) -> bytes:
    """Return the one sequence of bytes that stands for this sealed matrix."""
    matrix = sealed.matrix
    content = np.ascontiguousarray(matrix.weights, dtype="<u8").tobytes()
    metadata = {
        "audit": _json(sealed.audit),
        "cells": _json(list(matrix.row_cells)),
        "distance": distances.DEFINITION,
        "epsilon_per_km": repr(float(sealed.epsilon_per_km)),
        "format": FORMAT,
        "level": str(matrix.level),
        "provenance": _json(sealed.provenance),
        "total": str(_one_total(matrix)),
    }
    if matrix.column_cells != matrix.row_cells:
        metadata["columns"] = _json(list(matrix.column_cells))
    if sealed.points is not None:
        metadata["points"] = _json([list(point) for point in sealed.points])
    shape = list(matrix.weights.shape)
    tensor = {"data_offsets": [0, len(content)], "dtype": "U64", "shape": shape}
    header = _json({"__metadata__": metadata, "weights": tensor}).encode("ascii")
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + content


def read_sealed(path: Path) -> SealedFile:
    """Return what the file says, or refuse it."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise BadFile(f"{path.name} is larger than any matrix of {MOST_CELLS:,} cells")
        with safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            if list(file.keys()) != ["weights"]:
                raise BadFile(f"{path.name} is no sealed matrix: expected one tensor, 'weights'")
            weights = file.get_tensor("weights")
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror or refusal}") from refusal
    except SafetensorError as damage:
        raise BadFile(f"{path.name} is damaged or not a safetensors file") from damage
    try:
        return _sealed_file(weights, metadata)
    except InvalidInput as refusal:
        raise BadFile(f"{path.name}: {refusal}") from refusal
    except (KeyError, ValueError, TypeError, RecursionError) as damage:
        raise BadFile(f"{path.name} is no sealed matrix: its metadata is incomplete") from damage


def _sealed_file(weights: Any, metadata: Mapping[str, str]) -> SealedFile:
    if metadata["format"] != FORMAT:
        raise InvalidInput(f"it is of another format than '{FORMAT}'")
    if metadata["distance"] != distances.DEFINITION:
        raise InvalidInput("it is over other distances than those of this version")
    rows = tuple(json.loads(metadata["cells"]))
    columns = tuple(json.loads(metadata["columns"])) if "columns" in metadata else rows
    points = _points(metadata["points"], len(rows)) if "points" in metadata else None
    if points is None:
        for cell in rows:
            cells.require_cell(cell)
    matrix = SealedMatrix(rows, columns, int(metadata["level"]), weights)
    if str(_one_total(matrix)) != metadata["total"]:
        raise InvalidInput("the rows do not sum to the total that it states")
    epsilon = require_epsilon(float(metadata["epsilon_per_km"]))
    provenance, audit = (json.loads(metadata[name]) for name in ("provenance", "audit"))
    return SealedFile(matrix, epsilon, points, dict(provenance), dict(audit))


def _points(text: str, size: int) -> Points:
    points = tuple(cells.require_point(*point) for point in json.loads(text))
    if len(points) != size:
        raise InvalidInput("the points are not one for each row")
    return points


def _one_total(matrix: SealedMatrix) -> int:
    totals = set(matrix.row_totals)
    if len(totals) != 1:
        raise InvalidInput("the rows have different totals: a published matrix has one")
    return totals.pop()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
