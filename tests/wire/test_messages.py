"""The small messages: pinned byte for byte, back as they were, and nothing else is read as one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.errors import GeocorgiError
from geocorgi.matrix.forest_file import LARGEST_FILE_BYTES
from geocorgi.wire import build_progress, forest_pin, map_index, refusal
from geocorgi.wire.build_progress import BuildProgress, State
from geocorgi.wire.forest_pin import ForestPin, ForestPins
from geocorgi.wire.map_index import MapIndex, MapPin, pin_of_map
from geocorgi.wire.refusal import Refusal
from tests.conftest import REPOSITORY
from tests.wire.maps import ROOT, small_map

GOLDEN = REPOSITORY / "tests" / "golden"
ID, OTHER = "0123456789abcdef" * 4, "fedcba9876543210" * 4
ROOTS = ("872830828ffffff", "872830829ffffff", "87283082affffff")
PIN = ForestPin(ID, OTHER, "ab" * 32, 134_000)

DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
SIZES = st.integers(1, LARGEST_FILE_BYTES)


class Message(NamedTuple):
    """A kind of message: an example, its codec, and any value of it."""

    example: Any
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    values: st.SearchStrategy[Any]
    most_bytes: int


@st.composite
def pins_of_a_map(draw):
    map_id, names = draw(DIGESTS), sorted(draw(st.sets(DIGESTS, min_size=1, max_size=5)))
    return ForestPins(
        map_id, tuple(ForestPin(map_id, name, draw(DIGESTS), draw(SIZES)) for name in names)
    )


@st.composite
def indices(draw):
    roots = draw(st.lists(st.sampled_from(ROOTS), min_size=1, unique=True))
    return MapIndex(
        tuple(MapPin(draw(DIGESTS), draw(st.integers(1, 10**6)), (root,)) for root in sorted(roots))
    )


@st.composite
def states(draw):
    subtrees = draw(st.integers(1, 20_000))
    done = draw(st.integers(0, subtrees))
    return BuildProgress(draw(st.sampled_from(State)), draw(st.integers(0, 9_999)), done, subtrees)


PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=300)
MESSAGES = {
    "map-index": Message(
        MapIndex((MapPin(ID, 12_345, ROOTS[:1]), MapPin(OTHER, 1, ROOTS[1:]))),
        map_index.encode_index, map_index.decode_index, indices(), map_index.MOST_BYTES,
    ),
    "forest-pin": Message(
        PIN, forest_pin.encode_pin, forest_pin.decode_pin,
        st.builds(ForestPin, DIGESTS, DIGESTS, DIGESTS, SIZES), forest_pin.MOST_BYTES,
    ),
    "forest-pins": Message(
        ForestPins(ID, (ForestPin(ID, ID, OTHER, 7), PIN)),
        forest_pin.encode_pins, forest_pin.decode_pins, pins_of_a_map(),
        forest_pin.MOST_BYTES_OF_ALL,
    ),
    "build-progress": Message(
        BuildProgress(State.BUILDING, 0, 3, 7),
        build_progress.encode_progress, build_progress.decode_progress, states(),
        build_progress.MOST_BYTES,
    ),
    "refusal": Message(
        Refusal("the catalogue does not offer that"),
        refusal.encode_refusal, refusal.decode_refusal, st.builds(Refusal, PRINTABLE),
        refusal.MOST_BYTES,
    ),
}  # fmt: skip
KINDS = pytest.mark.parametrize("kind", MESSAGES.values(), ids=MESSAGES.keys())


def dumped(fields: object) -> bytes:
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", MESSAGES)
def test_the_bytes_are_pinned(name):
    kind, golden = MESSAGES[name], (GOLDEN / f"{name}.json").read_bytes()
    assert kind.encode(kind.example) == golden
    assert kind.decode(golden) == kind.example


@KINDS
@given(data=st.data())
def test_every_message_comes_back_and_fits(kind, data):
    value = data.draw(kind.values)
    content = kind.encode(value)
    assert len(content) <= kind.most_bytes
    assert kind.decode(content) == value


@KINDS
def test_another_version_another_field_and_a_lacking_one_are_refused(kind):
    fields = json.loads(kind.encode(kind.example))
    others = [fields | {"format": fields["format"][:-1] + "2"}, fields | {"user": "me"}]
    others += [{k: v for k, v in fields.items() if k != name} for name in fields]
    for other in others:
        with pytest.raises(GeocorgiError):
            kind.decode(dumped(other))


@KINDS
def test_a_field_of_another_type_is_refused(kind):
    fields = json.loads(kind.encode(kind.example))
    for name in fields:
        for value in (None, True, 1.5, -1, 10**30, [], {}, "", [[]], [{}], "é\n"):
            if value == fields[name]:
                continue
            with pytest.raises(GeocorgiError):
                kind.decode(dumped(fields | {name: value}))


@KINDS
def test_a_message_too_long_is_refused_before_it_is_read(kind):
    with pytest.raises(GeocorgiError, match="at most"):
        kind.decode(b"[" * (kind.most_bytes + 1))


@KINDS
@given(data=st.data())
def test_noise_and_changed_bytes_are_refused_or_another_message(kind, data):
    content = kind.encode(kind.example)
    at = data.draw(st.integers(0, len(content) - 1))
    piece = data.draw(st.binary(max_size=8))
    for other in (piece, content[:at] + piece + content[at + len(piece) :], content[:at]):
        try:
            found = kind.decode(other)
        except GeocorgiError:
            continue
        assert kind.encode(found) == other


def refused(decode: Callable[[bytes], Any], fields: object) -> None:
    with pytest.raises(GeocorgiError):
        decode(dumped(fields))


def test_an_index_gives_every_root_one_map():
    good = json.loads(map_index.encode_index(MESSAGES["map-index"].example))
    first, second = good["maps"]
    for maps in (
        [second, first], [first, first], [first | {"roots": []}], [first | {"roots": [7]}],
        [first | {"roots": ["nowhere"]}], [first | {"bytes": 0}], [first | {"map_id": "x"}],
        [first | {"roots": list(ROOTS)}, second], [first] * 5_001,
    ):  # fmt: skip
        refused(map_index.decode_index, good | {"maps": maps})
    capitals = good["maps"][0] | {"roots": [root.upper() for root in good["maps"][0]["roots"]]}
    refused(map_index.decode_index, good | {"maps": [capitals, *good["maps"][1:]]})


def test_pins_of_a_map_are_in_order_and_of_that_map():
    good = json.loads(forest_pin.encode_pins(MESSAGES["forest-pins"].example))
    first, second = good["pins"]
    for pins in ([second, first], [first, first], [first | {"bytes": 0}], [{}], [first] * 10_001):
        refused(forest_pin.decode_pins, good | {"pins": pins})
    with pytest.raises(GeocorgiError):
        ForestPins(OTHER, (PIN,))


def test_no_build_has_more_done_than_there_is():
    good = json.loads(build_progress.encode_progress(MESSAGES["build-progress"].example))
    for change in ({"done": 8}, {"subtrees": 0}, {"state": "lost"}, {"subtrees": 20_001}):
        refused(build_progress.decode_progress, good | change)


def test_a_refusal_cannot_act_on_a_terminal():
    for reason in ("", "\x1b[2J", "two\nlines", "a" * 301, "naïve"):
        refused(refusal.decode_refusal, {"format": refusal.FORMAT, "reason": reason})


def test_what_the_index_says_of_a_map_is_so():
    pin = pin_of_map(small_map())
    assert pin.roots == (ROOT,)
    assert pin.map_id == "04191c2426b847f9c4bff364a28124b7e5c5466fbcd5f7fa6c6fa333d768ccc5"
