"""An answer's body is bounded whatever it claims."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.network.body import Body
from geocorgi.errors import AnswerRefused, Unreachable


def taken(content: bytes, encoding: str | None, most_bytes: int, cuts=()) -> bytes:
    body = Body(encoding, most_bytes)
    ends = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    for start, end in pairwise(ends):
        body.take(content[start:end])
    return body.whole()


@given(st.binary(max_size=300), st.lists(st.integers(0, 400), max_size=5), st.booleans())
def test_what_fits_comes_whole_however_it_is_cut(content, cuts, packed):
    wire = gzip.compress(content) if packed else content
    assert taken(wire, "gzip" if packed else None, len(content), cuts) == content


@given(st.binary(min_size=1, max_size=300), st.lists(st.integers(0, 400), max_size=5))
def test_one_byte_too_many_is_refused_compressed_or_not(content, cuts):
    for wire, encoding in ((content, "identity"), (gzip.compress(content), "gzip")):
        with pytest.raises(AnswerRefused, match="larger than"):
            taken(wire, encoding, len(content) - 1, cuts)


def test_a_bomb_takes_no_more_memory_than_was_agreed():
    bomb = gzip.compress(bytes(200_000_000), 9)  # a thousandth of it on the wire
    assert len(bomb) < 250_000
    tracemalloc.start()
    with pytest.raises(AnswerRefused, match="larger than the 1,000,000 bytes"):
        taken(bomb, "gzip", 1_000_000, range(0, len(bomb), 65536))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


@given(st.binary(min_size=2, max_size=100), st.data())
def test_a_compressed_answer_that_breaks_off_is_not_whole(content, data):
    wire = gzip.compress(content)
    cut = data.draw(st.integers(0, len(wire) - 1))
    with pytest.raises(Unreachable, match="broke off"):
        taken(wire[:cut], "gzip", 1000)


def test_a_flipped_bit_in_a_compressed_answer_is_noticed():
    wire = bytearray(gzip.compress(b"corgi" * 20))
    wire[-6] ^= 1  # in the checksum
    with pytest.raises(AnswerRefused, match="is not"):
        taken(bytes(wire), "gzip", 1000)


@pytest.mark.parametrize("more", [b"\0", gzip.compress(b"more", mtime=0)])
def test_nothing_follows_the_compressed_end(more):
    with pytest.raises(AnswerRefused, match="goes on"):
        taken(gzip.compress(b"corgi") + more, "gzip", 1000)


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip", "x-gzip", ""])
def test_only_what_was_asked_for_is_unpacked(encoding):
    with pytest.raises(AnswerRefused, match="was not asked for"):
        Body(encoding, 1000)


def test_zlibs_own_format_is_not_gzip():
    with pytest.raises(AnswerRefused, match="is not"):
        taken(zlib.compress(b"corgi"), "gzip", 1000)
