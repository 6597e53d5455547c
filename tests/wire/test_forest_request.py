"""The only thing that a user ever tells a server, byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.errors import GeocorgiError, InvalidMessage
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import LONGEST_NAME, MOST_DELTA, MOST_LEVELS
from geocorgi.wire.forest_request import (
    MOST_BYTES,
    ForestRequest,
    decode_request,
    encode_request,
    request_for,
)
from tests.conftest import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden"
ID = "0123456789abcdef" * 4
REQUEST = ForestRequest(ID, 2, None, 16, Rows.KEEP, 5.0)
FILTERED = ForestRequest(ID, 3, "popular", 4, Rows.DROP, 0.1)

NAMES = st.from_regex(rf"\A[a-z][a-z0-9_-]{{0,{LONGEST_NAME - 1}}}\Z")
REQUESTS = st.builds(
    ForestRequest,
    st.text("0123456789abcdef", min_size=64, max_size=64),
    st.integers(1, MOST_LEVELS),
    st.none() | NAMES,
    st.integers(0, MOST_DELTA),
    st.sampled_from(list(Rows)),
    st.floats(0, 1e6, exclude_min=True),
)


@pytest.mark.parametrize(
    ("request_", "name"), [(REQUEST, "forest-request"), (FILTERED, "forest-request-filter")]
)
def test_the_bytes_are_pinned(request_, name):
    golden = (GOLDEN / f"{name}.json").read_bytes()
    assert encode_request(request_) == golden
    assert decode_request(golden) == request_


def test_no_other_field_exists():
    assert set(json.loads(encode_request(REQUEST))) == {
        "delta", "epsilon_per_km", "filter", "format", "map_id", "privacy_level", "rows",
    }  # fmt: skip


@given(REQUESTS)
def test_every_request_comes_back(request_):
    content = encode_request(request_)
    assert len(content) <= MOST_BYTES
    assert decode_request(content) == request_
    assert request_for(request_.map_id, request_.entry) == request_


def changed(**fields: object) -> bytes:
    return json.dumps(
        json.loads(encode_request(REQUEST)) | fields, sort_keys=True, separators=(",", ":")
    ).encode()


def lacking(name: str) -> bytes:
    fields = json.loads(encode_request(REQUEST))
    del fields[name]
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


HOSTILE = {
    "an unknown field": changed(cell="89283082803ffff"),
    "a lacking field": lacking("rows"),
    "a lacking version": lacking("format"),
    "another version": changed(format="geocorgi forest request 2"),
    "a whole epsilon": changed(epsilon_per_km=5),
    "no epsilon": changed(epsilon_per_km=None),
    "a negative epsilon": changed(epsilon_per_km=-5.0),
    "an epsilon beyond": changed(epsilon_per_km=1e300),
    "not a number": encode_request(REQUEST).replace(b"5.0", b"NaN"),
    "an infinity": encode_request(REQUEST).replace(b"5.0", b"1e999"),
    "a true delta": changed(delta=True),
    "a delta beyond": changed(delta=10**30),
    "half a delta": changed(delta=1.5),
    "level zero": changed(privacy_level=0),
    "a third mode": changed(rows="maybe"),
    "a path for a name": changed(filter="../../etc"),
    "a name too long": changed(filter="a" * 41),
    "another map's spelling": changed(map_id=ID.upper()),
    "a short map": changed(map_id="abc"),
    "a list": b"[]",
    "nothing": b"",
    "not ASCII": "{\"é\":1}".encode(),
    "blanks": encode_request(REQUEST).replace(b":", b": "),
    "a key twice": encode_request(REQUEST).replace(b'"delta":16', b'"delta":16,"delta":16'),
    "another order": b'{"rows":"keep",' + lacking("rows")[1:],
    "too deep": b"[" * 900,
    "too long": b" " * (MOST_BYTES + 1),
    "many digits": b'{"delta":' + b"9" * 900 + b"}",
}  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_anything_else_is_refused(content):
    with pytest.raises(GeocorgiError):
        decode_request(content)


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_noise_is_refused(content):
    with pytest.raises(InvalidMessage):
        decode_request(content)


@given(st.integers(0, 200), st.integers(0, 255))
def test_one_changed_byte_is_refused_or_another_request(at, byte):
    content = encode_request(REQUEST)
    at %= len(content)
    other = content[:at] + bytes([byte]) + content[at + 1 :]
    try:
        found = decode_request(other)
    except GeocorgiError:
        return
    assert encode_request(found) == other
