"""However the real location comes in, a refusal does not repeat it."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.locating import (
    EXPECTED,
    located,
    located_in_file,
    located_in_stream,
    located_in_words,
)
from geocorgi.errors import BadFile, GeocorgiError, InvalidInput, NotLocated
from geocorgi.tree import cells
from tests.wire.maps import LEAVES, small_map

MAP = small_map()
LATITUDE, LONGITUDE = cells.centre(LEAVES[7])
POINT = {"type": "Point", "coordinates": [LONGITUDE, LATITUDE]}


@pytest.mark.parametrize(
    "text",
    [
        f"{LATITUDE},{LONGITUDE}",
        f" {LATITUDE}, {LONGITUDE} \n",
        f"{LATITUDE} {LONGITUDE}",
        f"{LATITUDE:+.6f}\t{LONGITUDE:.6f}",
        LEAVES[7],
        json.dumps(POINT),
        json.dumps({"type": "Feature", "geometry": POINT, "properties": {}}, indent=1),
    ],
)
def test_a_location_is_read_however_it_is_said(text, tmp_path):
    (tmp_path / "here.txt").write_text(text, encoding="utf-8")
    for found in (
        located(text),
        located_in_words(text.split(" ")),
        located_in_stream(io.StringIO(text)),
        located_in_file(tmp_path / "here.txt"),
    ):
        assert found.leaf_of(MAP) == LEAVES[7]


def test_a_stream_is_read_no_further_than_its_first_line():
    stream = io.StringIO(f"{LATITUDE},{LONGITUDE}\nthe rest is another program's\n")
    assert located_in_stream(stream).leaf_of(MAP) == LEAVES[7]
    assert stream.read().startswith("the rest")


@pytest.mark.parametrize(
    "text",
    [
        f"{LATITUDE};{LONGITUDE}",
        f"{LATITUDE}",
        f"{LATITUDE},{LONGITUDE},12",
        f"{LONGITUDE},{LATITUDE}",  # swapped: off the globe
        f"at {LATITUDE},{LONGITUDE}",
        f"{LATITUDE}x,{LONGITUDE}",
        f"nan,{LONGITUDE}",
        LEAVES[7][:-1],
        json.dumps({"type": "Point", "coordinates": [str(LONGITUDE), LATITUDE]}),
        json.dumps({"type": "Point", "coordinates": [LONGITUDE]}),
        json.dumps({"type": "Polygon", "coordinates": [LONGITUDE, LATITUDE]}),
        '{"type": "Point", "coordinates": [NaN, ' + str(LATITUDE) + "]}",
        '{"type": "Point", "coordinates": [' + "9" * 400 + ", " + str(LATITUDE) + "]}",
        '{"type": "Point", "coordinates": [' + str(LONGITUDE),
        "[" * 5_000 + str(LATITUDE),
        '{"a":' * 1_900 + str(LATITUDE),
    ],
)
def test_what_is_no_location_is_refused_without_being_repeated(text, tmp_path):
    (tmp_path / "here.txt").write_text(text, encoding="utf-8")
    for door in (located, lambda _: located_in_file(tmp_path / "here.txt")):
        with pytest.raises(InvalidInput) as refusal:
            door(text)
        assert_nothing_told(refusal.value)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "here").write_bytes(b"\xff\xfe37.7")
    with pytest.raises(InvalidInput):
        located_in_file(tmp_path / "here")
    with pytest.raises(InvalidInput):
        located_in_stream(io.TextIOWrapper(io.BytesIO(b"\xff\xfe37.7"), encoding="utf-8"))


def test_where_nothing_comes_it_says_what_was_expected(tmp_path):
    for text in ("", "\n", "  \n37.7,-122.4"):
        with pytest.raises(NotLocated, match="LAT,LON"):
            located_in_stream(io.StringIO(text))
    with pytest.raises(BadFile, match="cannot read nowhere"):
        located_in_file(tmp_path / "nowhere")


@given(st.text(max_size=60))
def test_any_text_is_a_location_or_a_clean_refusal(text):
    try:
        located(text)
    except GeocorgiError as refusal:
        shown = words_beside_the_usual(refusal)
        assert len(text.strip()) < 4 or text.strip() not in shown


def words_beside_the_usual(refusal: BaseException | None) -> str:
    """What is shown of a refusal: its words, not the paths of files beside them."""
    words = []
    while refusal is not None:
        words.append(str(refusal).replace(EXPECTED, ""))
        hidden = None if refusal.__suppress_context__ else refusal.__context__
        refusal = refusal.__cause__ or hidden
    return " ".join(words)


def assert_nothing_told(refusal: BaseException | None) -> None:
    while refusal is not None:
        for secret in (LEAVES[7][:-1], f"{LATITUDE:.3f}", f"{LONGITUDE:.3f}"):
            assert secret not in repr(refusal)
        refusal = refusal.__context__
