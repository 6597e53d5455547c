"""Every decoder, fuzzed: bytes near those that are meant are refused in a word or read as they are.

A bounded run, the same for everybody; `make test-slow` runs a longer one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.errors import GeocorgiError
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes, forest_from_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.wire.build_progress import decode_progress, encode_progress
from geocorgi.wire.forest_pin import decode_pin, decode_pins, encode_pin, encode_pins
from geocorgi.wire.forest_request import decode_request, encode_request
from geocorgi.wire.map_codec import decode_map, encode_map
from geocorgi.wire.map_index import decode_index, encode_index
from geocorgi.wire.refusal import decode_refusal, encode_refusal
from tests.conftest import REPOSITORY
from tests.wire.maps import TREE

GOLDEN = REPOSITORY / "tests" / "golden"
FOREST_FILE = GOLDEN / "privacy-forest.safetensors"


class Codec(NamedTuple):
    """How a message is read and written."""

    decode: Callable[[bytes], object]
    encode: Callable[..., bytes]


CODECS = {
    "build-progress.json": Codec(decode_progress, encode_progress),
    "forest-pin.json": Codec(decode_pin, encode_pin),
    "forest-pins.json": Codec(decode_pins, encode_pins),
    "forest-request-filter.json": Codec(decode_request, encode_request),
    "forest-request.json": Codec(decode_request, encode_request),
    "map-index.json": Codec(decode_index, encode_index),
    "privacy-forest.safetensors": Codec(forest_from_bytes, forest_bytes),
    "public-map-shard.json": Codec(decode_map, encode_map),
    "public-map.json": Codec(decode_map, encode_map),
    "refusal.json": Codec(decode_refusal, encode_refusal),
}
PIECES = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"NaN", b"Infinity"),
    *(b"-0", b"-0.0", b"0.1", b"1e999", b"1e-999", b"9" * 400, b"18446744073709551616"),
    *(b"\xff\xfe", b"\\ud800", b"\\u0000", b"\x00" * 64, b"\xff" * 8),
    *(b"[" * 3_000, b'{"a":' * 3_000),
)
ATOMS = st.one_of(st.sampled_from(PIECES), st.binary(max_size=9))


@st.composite
def spoilt(draw, name: str) -> bytes:
    """Return a golden message after a few cuts, copies, swaps and insertions."""
    content = (GOLDEN / name).read_bytes()
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(content)))
        last = draw(st.integers(first, min(first + 40, len(content))))
        again = content[first:last] * draw(st.integers(0, 2))
        content = content[:first] + draw(ATOMS) + again + content[last:]
    return content


def require_refused_or_itself(name: str, content: bytes) -> None:
    try:
        found = CODECS[name].decode(content)
    except GeocorgiError as refusal:
        said = str(refusal)
    else:
        said = ""
        assert CODECS[name].encode(found) == content
    assert len(said) < 2_000
    assert "\n" not in said


@pytest.mark.parametrize("name", CODECS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_spoilt_is_refused_or_another_message(name, data):
    require_refused_or_itself(name, data.draw(spoilt(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", CODECS)
@settings(max_examples=1_000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_spoilt_is_refused_or_another_message_at_length(name, data):
    require_refused_or_itself(name, data.draw(spoilt(name)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)


@pytest.mark.parametrize("name", [name for name in CODECS if name.endswith(".json")])
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_field_that_is_anything_is_refused_or_another_message(name, data):
    fields = json.loads((GOLDEN / name).read_bytes())
    field = data.draw(st.sampled_from(sorted(fields)))
    fields[field] = data.draw(VALUES)
    content = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    require_refused_or_itself(name, content)


def forest_in_the_head() -> PrivacyForest:
    """Return a forest of seven sevens whose weights nobody computes: the same on any machine."""
    weights = np.full((7, 7), 1 << 58, dtype=np.uint64)
    np.fill_diagonal(weights, (1 << 62) - 6 * (1 << 58))
    matrices = {
        subtree.root: SealedMatrix(subtree.leaves, subtree.leaves, 0, weights)
        for subtree in TREE.subtrees(1)
    }
    notes = {root: {"method": "by hand"} for root in matrices}
    return PrivacyForest("0123456789abcdef" * 4, 1, None, 2, Rows.KEEP, 5.0, matrices, notes)


def test_the_bytes_of_a_forest_are_pinned():
    assert forest_bytes(forest_in_the_head()) == FOREST_FILE.read_bytes()


def test_every_golden_file_has_its_codec():
    assert {path.name for path in GOLDEN.iterdir()} == set(CODECS)
    for name, codec in CODECS.items():
        content = (GOLDEN / name).read_bytes()
        assert codec.encode(codec.decode(content)) == content
