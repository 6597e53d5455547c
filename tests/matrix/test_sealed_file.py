"""Sealed files: equal matrices are equal bytes, and nothing in a file is believed unchecked."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load

from geocorgi.errors import BadFile, GeocorgiError
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealed_file import SealedFile, read_sealed, sealed_bytes, write_sealed
from geocorgi.matrix.sealing import TOTAL, seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree

SEVEN = LocationTree("88283082a9fffff", 1).leaves
SEVEN_KM = distances.between_cells(SEVEN)
SEALED = SealedFile(
    seal(exponential_matrix(SEVEN, SEVEN_KM, 5.0), SEVEN_KM, 5.0).matrix,
    5.0, provenance={"method": "exponential"}, audit={"holds": True},
)  # fmt: skip
BYTES = sealed_bytes(SEALED)


def header_of(content: bytes) -> dict:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])


def with_metadata(**changes: str | None) -> bytes:
    header = header_of(BYTES)
    header["__metadata__"] |= changes
    metadata = {key: value for key, value in header["__metadata__"].items() if value is not None}
    text = json.dumps(header | {"__metadata__": metadata}).encode()
    text += b" " * (-len(text) % 8)
    (length,) = struct.unpack("<Q", BYTES[:8])
    return struct.pack("<Q", len(text)) + text + BYTES[8 + length :]


def test_a_sealed_matrix_comes_back_as_it_was(tmp_path):
    path = tmp_path / "m.safetensors"
    write_sealed(path, SEALED)
    found = read_sealed(path)
    assert np.array_equal(found.matrix.weights, SEALED.matrix.weights)
    assert found.matrix.row_cells == SEVEN
    assert (found.epsilon_per_km, found.provenance, found.audit) == (
        5.0, {"method": "exponential"}, {"holds": True},
    )  # fmt: skip
    assert audit(found.matrix, found.distances_km, 5.0).holds


def test_the_file_is_what_the_issue_describes():
    header = header_of(BYTES)
    assert header["weights"]["dtype"] == "U64"
    assert header["weights"]["shape"] == [7, 7]
    metadata = header["__metadata__"]
    assert json.loads(metadata["cells"]) == list(SEVEN)
    assert metadata["total"] == str(TOTAL)
    assert metadata["level"] == "0"
    assert float(metadata["epsilon_per_km"]) == 5.0
    assert "6371.0088" in metadata["distance"]


def test_the_library_reads_it_too():
    assert np.array_equal(load(BYTES)["weights"], SEALED.matrix.weights)


def test_equal_inputs_give_equal_bytes_and_the_header_is_sorted():
    assert sealed_bytes(SEALED) == BYTES
    header = header_of(BYTES)
    assert list(header) == sorted(header)
    assert list(header["__metadata__"]) == sorted(header["__metadata__"])


def test_points_and_fewer_columns_come_back(tmp_path):
    columns = SealedMatrix(("a", "b"), ("b",), 0, np.full((2, 1), 8, dtype=np.uint64))
    points = ((37.7, -122.4), (37.8, -122.4))
    path = tmp_path / "m.safetensors"
    write_sealed(path, SealedFile(columns, 2.0, points))
    found = read_sealed(path)
    assert (found.matrix.row_cells, found.matrix.column_cells) == (("a", "b"), ("b",))
    assert found.points == points
    assert found.distances_km[0, 1] == pytest.approx(11.1195, rel=1e-4)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        struct.pack("<Q", 10**12) + b"{}",
        BYTES[:-1],
        BYTES + b"\0",
        with_metadata(total="1"),
        with_metadata(total=None),
        with_metadata(level="-1"),
        with_metadata(level="two"),
        with_metadata(epsilon_per_km="nan"),
        with_metadata(epsilon_per_km="-5"),
        with_metadata(distance="as the crow flies"),
        with_metadata(format="geocorgi sealed matrix 2"),
        with_metadata(cells="[]"),
        with_metadata(cells="null"),
        with_metadata(cells="{"),
        with_metadata(cells="[" * 100_000),
        with_metadata(cells=json.dumps([SEVEN[0]] * 7)),
        with_metadata(cells=json.dumps(["a", "b", "c", "d", "e", "f", "g"])),
        with_metadata(cells=json.dumps([*SEVEN[:6], 7])),
        with_metadata(points="[[91, 0]]"),
        with_metadata(points="[[0, 0]]"),
        with_metadata(audit="[1]"),
    ],
)
def test_hostile_files_are_refused(tmp_path, content):
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"m\.safetensors"):
        read_sealed(path)


@settings(max_examples=300)
@given(st.integers(0, len(BYTES) - 1), st.integers(0, 255))
def test_one_changed_byte_is_refused_or_gives_another_valid_matrix(tmp_path_factory, at, byte):
    path = tmp_path_factory.mktemp("fuzz") / "m.safetensors"
    path.write_bytes(BYTES[:at] + bytes([byte]) + BYTES[at + 1 :])
    try:
        found = read_sealed(path)
    except GeocorgiError:
        return
    assert len(set(found.matrix.row_totals)) == 1


def test_rows_of_different_totals_are_not_published():
    uneven = SealedMatrix(("a",), ("b",), 0, np.array([[1]], dtype=np.uint64))
    both = SealedMatrix(("a", "c"), ("b",), 0, np.array([[1], [2]], dtype=np.uint64))
    assert sealed_bytes(replace(SEALED, matrix=uneven))
    with pytest.raises(GeocorgiError, match="different totals"):
        sealed_bytes(replace(SEALED, matrix=both))
