"""Forest files: one forest, one sequence of bytes; whatever else comes is refused."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load

from geocorgi.errors import BadFile, GeocorgiError, InvalidForest
from geocorgi.matrix import forest_file
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes, forest_from_bytes, read_forest, write_forest
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import TOTAL, seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree

TREE = LocationTree("872830828ffffff", 2)
SUBTREES = TREE.subtrees(1)
ID = "0123456789abcdef" * 4


def universal(subtree: LocationTree) -> SealedMatrix:
    table = distances.between_cells(subtree.leaves)
    return seal(exponential_matrix(subtree.leaves, table, 5.0), table, 5.0).matrix


FOREST = PrivacyForest(
    ID, 1, None, 2, Rows.KEEP, 5.0,
    {subtree.root: universal(subtree) for subtree in reversed(SUBTREES)},
    {subtree.root: {"method": "universal", "loss_km": 0.1} for subtree in SUBTREES},
)  # fmt: skip
BYTES = forest_bytes(FOREST)
(HEADER_LENGTH,) = struct.unpack("<Q", BYTES[:8])
HEADER = json.loads(BYTES[8 : 8 + HEADER_LENGTH])
ROOT = SUBTREES[0].root


def with_header(header: dict) -> bytes:
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + BYTES[8 + HEADER_LENGTH :]


def with_metadata(**changes: str | None) -> bytes:
    metadata = HEADER["__metadata__"] | changes
    kept = {key: value for key, value in metadata.items() if value is not None}
    return with_header(HEADER | {"__metadata__": kept})


def with_request(**changes: object) -> bytes:
    request = json.loads(HEADER["__metadata__"]["request"]) | changes
    return with_metadata(request=json.dumps(request, sort_keys=True, separators=(",", ":")))


def with_tensor(**changes: object) -> bytes:
    return with_header(HEADER | {ROOT: HEADER[ROOT] | changes})


def with_weights(weights: np.ndarray) -> bytes:
    start = 8 + HEADER_LENGTH
    return BYTES[:start] + weights.tobytes() + BYTES[start + weights.nbytes :]


def first_weights() -> np.ndarray:
    return np.array(FOREST.matrices[ROOT].weights)


def off_by_one() -> bytes:
    weights = first_weights()
    weights[3, 3] += np.uint64(1)
    return with_weights(weights)


def cells_of(root: str, names: object) -> str:
    cells = json.loads(HEADER["__metadata__"]["cells"]) | {root: names}
    return json.dumps(cells, sort_keys=True, separators=(",", ":"))


def test_a_forest_comes_back_as_it_was(tmp_path):
    path = tmp_path / "f.safetensors"
    write_forest(path, FOREST)
    found = read_forest(path)
    assert list(found.matrices) == [subtree.root for subtree in SUBTREES]
    for root, matrix in found.matrices.items():
        assert np.array_equal(matrix.weights, FOREST.matrices[root].weights)
        assert matrix.row_cells == matrix.column_cells == LocationTree(root, 1).leaves
    assert found.certificates[ROOT] == {"method": "universal", "loss_km": 0.1}
    assert (found.map_id, found.privacy_level, found.filter, found.delta, found.rows) == (
        ID, 1, None, 2, Rows.KEEP,
    )  # fmt: skip
    assert found.total == TOTAL


def test_the_file_is_what_its_page_says():
    assert list(HEADER) == sorted(HEADER)
    assert {name for name in HEADER if name != "__metadata__"} == {t.root for t in SUBTREES}
    metadata = HEADER["__metadata__"]
    assert set(metadata) == {
        "cells", "certificates", "columns", "distance", "format", "level", "map_id", "request",
        "total",
    }  # fmt: skip
    assert metadata["total"] == str(TOTAL)
    assert metadata["columns"] == "{}"
    assert json.loads(metadata["request"]) == {
        "delta": 2, "epsilon_per_km": 5.0, "filter": None, "privacy_level": 1, "rows": "keep",
    }  # fmt: skip


def test_the_library_reads_it_too():
    tensors = load(BYTES)
    assert np.array_equal(tensors[ROOT], FOREST.matrices[ROOT].weights)
    assert len(tensors) == 7


def test_equal_forests_are_equal_bytes_in_whatever_order_they_were_made():
    shuffled = {subtree.root: universal(subtree) for subtree in SUBTREES}
    assert forest_bytes(replace(FOREST, matrices=shuffled)) == BYTES


def test_a_filtered_forest_has_fewer_columns(tmp_path):
    weights = np.full((7, 2), TOTAL // 2, dtype=np.uint64)
    matrices = {t.root: SealedMatrix(t.leaves, t.leaves[:2], 0, weights) for t in SUBTREES}
    filtered = replace(FOREST, filter="popular", matrices=matrices)
    found = forest_from_bytes(forest_bytes(filtered))
    assert found.filter == "popular"
    assert found.matrices[ROOT].column_cells == SUBTREES[0].leaves[:2]


HOSTILE = {
    "nothing": b"",
    "too short": BYTES[:7],
    "a header of 10 GB": struct.pack("<Q", 10**10) + BYTES[8:],
    "a header of 2^64 - 1": b"\xff" * 8 + BYTES[8:],
    "an empty header": struct.pack("<Q", 0),
    "a tensor of 10 GB": with_tensor(shape=[35_000, 35_000], data_offsets=[0, 9_800_000_000]),
    "a tensor outside": with_tensor(data_offsets=[len(BYTES), len(BYTES) + 392]),
    "a tensor backwards": with_tensor(data_offsets=[392, 0]),
    "a tensor before": with_tensor(data_offsets=[-392, 0]),
    "a tensor over another": with_tensor(data_offsets=[392, 784]),
    "half an offset": with_tensor(data_offsets=[0.0, 392.0]),
    "a tensor of floats": with_tensor(dtype="F64"),
    "a tensor with more": with_tensor(name="x"),
    "a tensor that is none": with_header(HEADER | {ROOT: 1}),
    "a flat tensor": with_tensor(shape=[49]),
    "no metadata": with_header({k: v for k, v in HEADER.items() if k != "__metadata__"}),
    "no tensors": with_header({"__metadata__": HEADER["__metadata__"]}),
    "a tensor lacking": with_header({k: v for k, v in HEADER.items() if k != ROOT}),
    "a tensor too many": with_header(HEADER | {"872830829ffffff": HEADER[ROOT]}),
    "no JSON": struct.pack("<Q", 8) + b"{" * 8,
    "a deep header": struct.pack("<Q", 100_000) + b"[" * 100_000,
    "NaN in the header": with_metadata(certificates='{"' + ROOT + '":{"loss_km":NaN}}'),
    "an infinity in the header": with_metadata(certificates='{"' + ROOT + '":{"loss_km":1e999}}'),
    "a certificate of none": with_metadata(certificates='{"x":{}}'),
    "a certificate that is a list": with_metadata(certificates="[]"),
    "more metadata": with_metadata(owner="me"),
    "less metadata": with_metadata(distance=None),
    "a number for a text": with_metadata(total=7),
    "another total": with_metadata(total="1"),
    "another level": with_metadata(level="-1"),
    "a level with blanks": with_metadata(level=" 0"),
    "another format": with_metadata(format="geocorgi privacy forest 2"),
    "other distances": with_metadata(distance="as the crow flies"),
    "no map": with_metadata(map_id=""),
    "a request with more": with_request(cell=ROOT),
    "a request of level zero": with_request(privacy_level=0),
    "a request of a negative delta": with_request(delta=-1),
    "a request of a third mode": with_request(rows="maybe"),
    "a request without epsilon": with_request(epsilon_per_km=-5.0),
    "cells of another subtree": with_metadata(cells=cells_of(ROOT, list(SUBTREES[1].leaves))),
    "a cell twice": with_metadata(cells=cells_of(ROOT, [SUBTREES[0].leaves[0]] * 7)),
    "a cell too few": with_metadata(cells=cells_of(ROOT, list(SUBTREES[0].leaves[:6]))),
    "a cell that is none": with_metadata(cells=cells_of(ROOT, ["x"] * 7)),
    "cells that are a text": with_metadata(cells=cells_of(ROOT, "abcdefg")),
    "columns said twice": with_metadata(columns=json.dumps({ROOT: list(SUBTREES[0].leaves)})),
    "a total off by one": off_by_one(),
    "an empty row": with_weights(first_weights() * np.eye(7, dtype=np.uint64)[::-1] * 0),
    "a byte less": BYTES[:-1],
    "a byte more": BYTES + b"\0",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bytes_are_refused(content):
    with pytest.raises(InvalidForest):
        forest_from_bytes(content)


def test_swapped_rows_are_another_forest_that_only_an_audit_can_tell():
    swapped = with_weights(first_weights()[::-1])
    assert forest_bytes(forest_from_bytes(swapped)) == swapped


@settings(max_examples=200)
@given(st.integers(0, len(BYTES) - 1), st.integers(0, 255))
def test_one_changed_byte_is_refused_or_another_forest(at, byte):
    other = BYTES[:at] + bytes([byte]) + BYTES[at + 1 :]
    try:
        found = forest_from_bytes(other)
    except GeocorgiError:
        return
    assert forest_bytes(found) == other


def test_a_large_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "f.safetensors"
    path.write_bytes(BYTES)
    monkeypatch.setattr(forest_file, "LARGEST_FILE_BYTES", 100)
    with pytest.raises(BadFile, match="larger than any forest"):
        read_forest(path)
    with pytest.raises(BadFile, match="cannot read"):
        read_forest(tmp_path / "none.safetensors")


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "f.safetensors"
    path.write_bytes(BYTES[:-1])
    with pytest.raises(BadFile, match=r"f\.safetensors"):
        read_forest(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"matrices": {}},
        {"matrices": {SUBTREES[1].root: FOREST.matrices[ROOT]}},
        {"matrices": {"nowhere": FOREST.matrices[ROOT]}},
        {"certificates": {"872830829ffffff": {}}},
        {"privacy_level": True},
        {"map_id": "a" * 65},
        {"epsilon_per_km": float("nan")},
        {"rows": "maybe"},
    ],
)
def test_what_is_no_forest_is_refused(changes):
    with pytest.raises(GeocorgiError):
        replace(FOREST, **changes)
