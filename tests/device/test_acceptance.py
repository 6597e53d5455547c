"""A forest is accepted only when all of it is as asked for; every hostile one is named."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from geocorgi.device import acceptance
from geocorgi.device.acceptance import Fault, accept
from geocorgi.device.areas import ListedCells
from geocorgi.device.ledger import Ledger
from geocorgi.device.obfuscate import obfuscate
from geocorgi.device.policy import Policy
from geocorgi.device.secret import DeviceSecret
from geocorgi.device.verdicts import Verdicts
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import ForestRefused
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import distances
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import ForestRequest, request_for
from geocorgi.wire.map_codec import map_id
from tests.device.forests import device_on, made, optimal_forest, quick_forest
from tests.wire.maps import LEAVES, small_map

MAP = small_map()
REQUEST = request_for(map_id(MAP), CatalogueEntry(1, None, 2, Rows.KEEP, 5.0))
HONEST = quick_forest(MAP, REQUEST)
ROOTS = list(HONEST.matrices)
TOTAL = HONEST.total
SECRET = DeviceSecret(b"s" * 32)


ENTRIES = [
    CatalogueEntry(1, None, 2, Rows.KEEP, 5.0),
    CatalogueEntry(1, None, 2, Rows.DROP, 15.0),
    CatalogueEntry(2, "even", 0, Rows.DROP, 15.0),
]


@pytest.mark.parametrize(
    ("make", "entry"),
    [
        *((quick_forest, entry) for entry in ENTRIES),
        *(pytest.param(optimal_forest, entry, marks=pytest.mark.slow) for entry in ENTRIES),
    ],
)
def test_an_honest_forest_is_accepted(make, entry):
    request = request_for(map_id(MAP), entry)
    content = made(make, MAP, request)
    accepted = accept(content, MAP, request)
    assert forest_bytes(accepted.forest) == content


def with_matrix(root: str, change: Callable[[np.ndarray], None]) -> PrivacyForest:
    weights = HONEST.matrices[root].weights.copy()
    change(weights)
    return with_weights({root: weights})


def with_weights(changed: dict[str, np.ndarray]) -> PrivacyForest:
    matrices = {
        root: replace(one, weights=changed.get(root, one.weights))
        for root, one in HONEST.matrices.items()
    }
    return replace(HONEST, matrices=matrices)


def identity() -> PrivacyForest:
    weights = np.full((7, 7), 1, dtype=np.uint64)
    np.fill_diagonal(weights, TOTAL - 6)
    return with_weights(dict.fromkeys(ROOTS, weights))


def leak_one_row(weights: np.ndarray) -> None:
    weights[3] = 1
    weights[3, 5] = TOTAL - 6


def zero_column(weights: np.ndarray) -> None:
    weights[:, 0] += weights[:, 6]
    weights[:, 6] = 0


def swapped_rows() -> PrivacyForest:
    one = HONEST.matrices[ROOTS[0]]
    names = (one.row_cells[1], one.row_cells[0], *one.row_cells[2:])
    order = [1, 0, *range(2, 7)]
    swapped = SealedMatrix(names, names, 0, one.weights[np.ix_(order, order)])
    return replace(HONEST, matrices=dict(HONEST.matrices) | {ROOTS[0]: swapped})


def without(root: str) -> PrivacyForest:
    return replace(HONEST, matrices={r: m for r, m in HONEST.matrices.items() if r != root})


def fewer_columns() -> PrivacyForest:
    one = HONEST.matrices[ROOTS[0]]
    weights = one.weights[:, :6].copy()
    weights[:, 0] += one.weights[:, 6]
    fewer = SealedMatrix(one.row_cells, one.column_cells[:6], 0, weights)
    return replace(HONEST, matrices=dict(HONEST.matrices) | {ROOTS[0]: fewer})


def not_prunable() -> PrivacyForest:
    """The optimum without reserves: Geo-Ind before anything is pruned, and not after."""
    without_reserves = replace(REQUEST, delta=0)
    return replace(optimal_forest(MAP, without_reserves), delta=2)


def more_than_is_added_up() -> PrivacyForest:
    """Private, and usable only below the subtrees from which enough is removed."""
    weights = np.full((7, 7), 2**60, dtype=np.uint64)
    return with_weights(dict.fromkeys(ROOTS, weights))


HOSTILE = {
    "identity": (identity, Fault.NOT_PRIVATE),
    "one row leaks": (lambda: with_matrix(ROOTS[0], leak_one_row), Fault.NOT_PRIVATE),
    "last subtree poisoned": (lambda: with_matrix(ROOTS[6], leak_one_row), Fault.NOT_PRIVATE),
    "swapped cells": (swapped_rows, Fault.OTHER_CELLS),
    "a subtree lacks": (lambda: without(ROOTS[2]), Fault.OTHER_CELLS),
    "a column lacks": (fewer_columns, Fault.OTHER_CELLS),
    "another map's": (lambda: replace(HONEST, map_id="0" * 64), Fault.OTHER_MAP),
    "wrong level": (
        lambda: quick_forest(MAP, replace(REQUEST, privacy_level=2)),
        Fault.OTHER_REQUEST,
    ),
    "wrong level said right": (
        lambda: replace(quick_forest(MAP, replace(REQUEST, privacy_level=2)), privacy_level=1),
        Fault.OTHER_CELLS,
    ),
    "coarser epsilon": (lambda: replace(HONEST, epsilon_per_km=15.0), Fault.OTHER_REQUEST),
    "coarser epsilon said right": (
        lambda: replace(
            quick_forest(MAP, replace(REQUEST, epsilon_per_km=15.0)), epsilon_per_km=5.0
        ),
        Fault.NOT_PRIVATE,
    ),
    "smaller delta": (lambda: replace(HONEST, delta=0), Fault.OTHER_REQUEST),
    "smaller delta said right": (not_prunable, Fault.NOT_PRUNABLE),
    "other rows": (lambda: replace(HONEST, rows=Rows.DROP), Fault.OTHER_REQUEST),
    "a filter nobody asked for": (
        lambda: quick_forest(MAP, replace(REQUEST, privacy_level=2, filter="even")),
        Fault.OTHER_REQUEST,
    ),
    "an entry of zero": (lambda: with_matrix(ROOTS[4], zero_column), Fault.ZERO_ENTRY),
    "rows beyond 2^62": (more_than_is_added_up, Fault.TOO_LARGE),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_forest_is_refused_by_name(name):
    make, fault = HOSTILE[name]
    with pytest.raises(ForestRefused, match=f"is refused, {fault}:"):
        accept(forest_bytes(make()), MAP, REQUEST)


def test_a_matrix_that_is_off_by_a_part_in_a_million_is_refused():
    request = replace(REQUEST, delta=0)
    tight = optimal_forest(MAP, request)
    one = tight.matrices[ROOTS[6]]
    worst = audit(one, distances.between_cells(one.row_cells), 5.0).worst
    row, column = one.row_cells.index(worst.real), one.column_cells.index(worst.reported)
    weights = one.weights.copy()
    moved = weights[row, column] // np.uint64(1_000_000)
    weights[row, column] += moved
    weights[row, (column + 1) % 7] -= moved
    poisoned = dict(tight.matrices) | {ROOTS[6]: replace(one, weights=weights)}
    accept(forest_bytes(tight), MAP, request)
    with pytest.raises(ForestRefused, match=str(Fault.NOT_PRIVATE)):
        accept(forest_bytes(replace(tight, matrices=poisoned)), MAP, request)


def test_what_is_prunable_where_rows_leave_is_not_where_they_stay_nor_for_one_cell_more():
    dropping = replace(REQUEST, rows=Rows.DROP)
    forest = optimal_forest(MAP, dropping)
    accept(forest_bytes(forest), MAP, dropping)
    with pytest.raises(ForestRefused, match=str(Fault.NOT_PRUNABLE)):
        accept(forest_bytes(replace(forest, rows=Rows.KEEP)), MAP, REQUEST)
    with pytest.raises(ForestRefused, match=str(Fault.NOT_PRUNABLE)):
        accept(forest_bytes(replace(forest, delta=3)), MAP, replace(dropping, delta=3))


def spelled(change: Callable[[dict, dict], None], content: bytes | None = None) -> bytes:
    """Return the honest bytes with a header that was changed by hand."""
    content = content or forest_bytes(HONEST)
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    change(header, header["__metadata__"])
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def duplicated(_header: dict, metadata: dict) -> None:
    rows = json.loads(metadata["cells"])
    rows[ROOTS[0]][1] = rows[ROOTS[0]][0]
    metadata["cells"] = json.dumps(rows, sort_keys=True, separators=(",", ":"))


def ten_gigabytes(header: dict, _metadata: dict) -> None:
    header[ROOTS[0]]["shape"] = [35_000, 35_000]
    header[ROOTS[0]]["data_offsets"] = [0, 35_000**2 * 8]


def not_a_number(_header: dict, metadata: dict) -> None:
    metadata["request"] = metadata["request"].replace("5.0", "NaN")


def infinite(_header: dict, metadata: dict) -> None:
    metadata["request"] = metadata["request"].replace("5.0", "Infinity")


def overlapping(header: dict, _metadata: dict) -> None:
    header[ROOTS[1]]["data_offsets"] = header[ROOTS[0]]["data_offsets"]


def other_distances(_header: dict, metadata: dict) -> None:
    metadata["distance"] = metadata["distance"].replace("6371", "9371")


def off_by_one() -> bytes:
    content = bytearray(forest_bytes(HONEST))
    content[-8] ^= 1  # the least bit of the last weight
    return bytes(content)


MALFORMED = {
    "duplicated cells": (lambda: spelled(duplicated), "name a cell twice"),
    "10 GB declared": (lambda: spelled(ten_gigabytes), "not one number for each row"),
    "NaN in the header": (lambda: spelled(not_a_number), "epsilon"),
    "an infinity in the header": (lambda: spelled(infinite), "epsilon"),
    "overlapping tensors": (lambda: spelled(overlapping), "not written as forests are"),
    "distances of another globe": (lambda: spelled(other_distances), "other distances"),
    "a total off by one": (off_by_one, "different totals"),
    "a 16 EB header": (lambda: b"\xff" * 64, "impossible length"),
    "truncated": (lambda: forest_bytes(HONEST)[:-8], "outside of its bytes"),
    "empty": (lambda: b"", "empty or too large"),
    "an error page": (lambda: b"<html>502 Bad Gateway</html>", "impossible length"),
}


def hostile_bytes() -> dict[str, Callable[[], bytes]]:
    """Return every hostile answer by its name."""
    answers = {name: make for name, (make, _) in MALFORMED.items()}
    return answers | {
        name: lambda make=make: forest_bytes(make()) for name, (make, _) in HOSTILE.items()
    }


@dataclass(frozen=True)
class Hostile:
    """A server that answers every request with the same bytes."""

    content: bytes

    def forest(self, _request: ForestRequest) -> bytes:
        return self.content


@pytest.mark.parametrize("name", hostile_bytes())
def test_of_a_hostile_forest_nothing_is_drawn_nothing_charged_wherever_the_user_is(name, tmp_path):
    # S of two cells somewhere, so that the request is the one that is answered.
    policy = Policy(1, 0, black_list=(ListedCells(LEAVES[10:12]),))
    hostile = Hostile(hostile_bytes()[name]())
    refusals = set()
    with Ledger(tmp_path) as ledger:
        device = replace(device_on(MAP), forests=hostile, memory=ledger)
        for real_leaf in (LEAVES[0], LEAVES[10], LEAVES[24], LEAVES[48]):
            with pytest.raises(ForestRefused) as refusal:
                obfuscate(Whereabouts(real_leaf), policy, device)
            refusals.add(str(refusal.value))
        assert ledger.history() == ledger.charges() == ()
    assert len(refusals) == 1


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_bytes_are_refused_by_name(name):
    make, sentence = MALFORMED[name]
    with pytest.raises(ForestRefused, match=f"refused, {Fault.MALFORMED}: .*{sentence}"):
        accept(make(), MAP, REQUEST)


def test_more_bytes_than_the_map_allows_are_not_even_read(monkeypatch):
    monkeypatch.setattr(acceptance, "LARGEST_HEADER_BYTES", 1_000)
    monkeypatch.setattr(acceptance, "forest_from_bytes", lambda _: pytest.fail("it was read"))
    with pytest.raises(ForestRefused, match=str(Fault.TOO_LARGE)):
        accept(b"\0" * 4_000, MAP, REQUEST)


@dataclass
class Counted:
    """The auditor, counting."""

    times: int = 0

    def __call__(self, *arguments):
        self.times += 1
        return audit(*arguments)


audit = acceptance.audit


@pytest.mark.parametrize(("forest", "audits"), [(HONEST, 7), (identity(), 1)])
def test_a_verdict_is_remembered_by_content(tmp_path, monkeypatch, forest, audits):
    counted = Counted()
    monkeypatch.setattr(acceptance, "audit", counted)
    verdicts = Verdicts(tmp_path / "verdicts", SECRET)
    content = forest_bytes(forest)
    said = [outcome(content, verdicts) for _ in range(3)]
    assert counted.times == audits
    assert len(set(said)) == 1
    # Nobody else's secret, no other bytes and no other request are answered by it.
    outcome(content, Verdicts(tmp_path / "verdicts", DeviceSecret(b"o" * 32)))
    assert counted.times == 2 * audits
    assert verdicts.known("0" * 64, b"request") is None
    assert {path.stat().st_mode & 0o777 for path in verdicts.folder.iterdir()} == {0o600}


def outcome(content: bytes, verdicts: Verdicts) -> str:
    try:
        return accept(content, MAP, REQUEST, verdicts).sha256
    except ForestRefused as refusal:
        return str(refusal)


def test_progress_is_told_for_every_subtree():
    told = []
    accept(forest_bytes(HONEST), MAP, REQUEST, on_progress=lambda *state: told.append(state))
    assert told == [(n, 7) for n in range(1, 8)]
