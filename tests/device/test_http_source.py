"""What a device asks a server for, and what it believes."""

from __future__ import annotations

import pytest

from geocorgi.device.content_cache import ContentCache
from geocorgi.device.http_source import HttpSource, Shipped
from geocorgi.device.network.address import ServerAddress
from geocorgi.device.network.exchange import Answer, not_asked
from geocorgi.device.network.retries import Patience, persistent
from geocorgi.errors import AnswerRefused, InvalidMessage, NotOffered, NotReady, Unreachable
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import uniform_priors
from geocorgi.wire import addresses
from geocorgi.wire.forest_pin import ForestPin, encode_pin
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import encode_map, map_id
from tests.device.published import BASE, Published, building, request_id
from tests.wire.maps import small_map

MAP = small_map()
OTHER_MAP = small_map(filters={})
REQUEST, OTHER_REQUEST = (request_for(map_id(MAP), entry) for entry in MAP.catalogue[:2])
FOREST = b"a forest, as far as fetching goes"
IMPATIENT = Patience(attempts=3, pause_seconds=0, longest_pause_seconds=0, building_seconds=30)
INDEX, MAP_ADDRESS = addresses.MAP_INDEX, addresses.map_address(map_id(MAP))
PIN_ADDRESS = addresses.pin_address(map_id(MAP), request_id(REQUEST))


@pytest.fixture
def server() -> Published:
    published = Published(MAP)
    published.publish(REQUEST, FOREST)
    return published


@pytest.fixture
def source_of(tmp_path):
    cache = ContentCache(tmp_path / "cache")

    def source(get, shipped=Shipped(), **options) -> HttpSource:  # noqa: B008 - a value
        address = ServerAddress(BASE)
        ask = get if get is not_asked else persistent(get, IMPATIENT)
        return HttpSource(address, ask, cache, shipped, IMPATIENT, **options)

    return source


def test_a_map_and_a_forest_are_asked_for_in_four_steps_and_once(server, source_of):
    source = source_of(server)
    assert source.public_map() == encode_map(MAP)
    assert source.forest(REQUEST) == FOREST
    assert server.asked == [
        INDEX,
        MAP_ADDRESS,
        PIN_ADDRESS,
        PIN_ADDRESS.replace("pin.json", f"{server.publish(REQUEST, FOREST).sha256}.safetensors"),
    ]
    again = source_of(server)
    assert (again.public_map(), again.forest(REQUEST)) == (encode_map(MAP), FOREST)
    assert len(server.asked) == 4


def test_offline_the_cache_answers_and_nothing_else_does(server, source_of):
    offline = source_of(not_asked)
    with pytest.raises(Unreachable, match="nobody is asked"):
        offline.public_map()
    source = source_of(server)
    source.public_map()
    source.forest(REQUEST)
    assert offline.public_map() == encode_map(MAP)
    assert offline.forest(REQUEST) == FOREST
    with pytest.raises(Unreachable, match="nobody is asked"):
        offline.forest(OTHER_REQUEST)


def test_a_shipped_map_is_asked_for_by_its_digest_alone(server, source_of):
    source = source_of(server, Shipped(map_id(MAP)))
    assert source.public_map() == encode_map(MAP)
    assert server.asked == [MAP_ADDRESS]


def test_a_map_that_is_not_what_its_digest_says_is_refused_and_not_kept(server, source_of):
    server.files[MAP_ADDRESS] = encode_map(OTHER_MAP)
    for shipped in (Shipped(map_id(MAP)), Shipped()):
        source = source_of(server, shipped)
        with pytest.raises(AnswerRefused, match="not what its digest says"):
            source.public_map()
    assert source_of(server).remembered_map_id() is None


def test_the_first_map_stays_in_use_until_another_is_chosen(server, source_of):
    source_of(server).public_map()
    moved = Published(OTHER_MAP)
    source = source_of(moved)
    assert source.public_map() == encode_map(MAP)
    assert moved.asked == []
    (offered,) = source.index().maps
    assert source.use_map(offered) == encode_map(OTHER_MAP)
    assert source.public_map() == encode_map(OTHER_MAP)


def test_of_several_maps_none_is_chosen_unasked(source_of):
    with pytest.raises(AnswerRefused, match="tells it something"):
        source_of(Published(MAP, small_map(**elsewhere()))).public_map()


def elsewhere() -> dict:
    tree = LocationTree("872830829ffffff", 2)
    return {
        "roots": (tree.root,), "priors": uniform_priors(tree.leaves), "targets": None,
        "filters": {}, "attributes": {},
    }  # fmt: skip


def test_two_servers_share_no_memory_of_what_is_first(server, source_of, tmp_path):
    source_of(server).public_map()
    there = HttpSource(
        ServerAddress("https://other.example/"), not_asked, ContentCache(tmp_path / "cache")
    )
    with pytest.raises(Unreachable):
        there.public_map()


def test_a_forest_that_is_not_what_its_pin_says_is_refused(server, source_of):
    pin = server.publish(REQUEST, FOREST)
    where = addresses.forest_address(pin.map_id, pin.request_id, pin.sha256)
    server.files[where] = FOREST[:-1] + b"?"
    with pytest.raises(AnswerRefused, match="not what its digest says"):
        source_of(server).forest(REQUEST)
    server.files[where] = FOREST
    assert source_of(server).forest(REQUEST) == FOREST


def test_a_pin_seen_first_is_the_only_one_believed(server, source_of, tmp_path):
    source = source_of(server)
    first = server.publish(REQUEST, FOREST)
    source.forest(REQUEST)
    source.cache.forget(first.sha256)  # the cache grew too large
    server.publish(REQUEST, b"another forest, for this user alone")
    asked = len(server.asked)
    with pytest.raises(AnswerRefused, match="another forest for this request"):
        source.forest(REQUEST)
    assert server.asked[asked:] == [PIN_ADDRESS]  # and its own name for the user never goes back
    server.publish(REQUEST, FOREST)
    assert source.forest(REQUEST) == FOREST


def test_the_pin_of_another_forest_or_map_is_refused(server, source_of):
    for pin in (
        ForestPin(map_id(MAP), request_id(OTHER_REQUEST), "a" * 64, 5),
        ForestPin(map_id(OTHER_MAP), request_id(REQUEST), "a" * 64, 5),
    ):
        server.files[PIN_ADDRESS] = encode_pin(pin)
        with pytest.raises(AnswerRefused, match="pin of another forest"):
            source_of(server).forest(REQUEST)


def test_a_forest_larger_than_the_maps_cells_allow_is_not_fetched(server, source_of):
    source = source_of(server)
    source.public_map()
    server.files[PIN_ADDRESS] = encode_pin(
        ForestPin(map_id(MAP), request_id(REQUEST), "a" * 64, 900_000_000)
    )
    with pytest.raises(AnswerRefused, match="more bytes than the map's cells"):
        source.forest(REQUEST)
    assert server.asked[-1] == PIN_ADDRESS


def test_with_everything_shipped_nothing_else_is_believed(server, source_of):
    other = server.publish(OTHER_REQUEST, b"another")
    pins = {"one": server.publish(REQUEST, FOREST)}
    shipped = Shipped(map_id(MAP), server.publish_pins(pins))
    source = source_of(server, shipped)
    assert source.forest(REQUEST) == FOREST
    with pytest.raises(NotOffered, match="none of those"):
        source.forest(OTHER_REQUEST)
    server.publish_pins(pins | {"two": other})
    source.cache.forget(shipped.pins_sha256)
    with pytest.raises(AnswerRefused, match="not what its digest says"):
        source.forest(OTHER_REQUEST)
    assert PIN_ADDRESS not in server.asked


def test_a_forest_is_waited_for_while_it_is_built_and_progress_is_said(server, source_of):
    server.first[PIN_ADDRESS] = [building(0), building(3, retry_after_seconds=9999), building(6)]
    seen = []
    source = source_of(server, on_progress=seen.append)
    assert source.forest(REQUEST) == FOREST
    assert [progress.done for progress in seen] == [0, 3, 6]


def test_waiting_ends(server, source_of, monkeypatch):
    server.first[PIN_ADDRESS] = [building(3)] * 100_000
    source = source_of(server)
    object.__setattr__(source, "patience", Patience(pause_seconds=0, building_seconds=0.05))
    with pytest.raises(NotReady, match="3 of 7 subtrees are built"):
        source.forest(REQUEST)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_the_servers_trouble_passes_or_is_said(server, source_of, status):
    server.first[INDEX] = [Answer(status, b""), Answer(status, b"")]
    assert source_of(server).public_map() == encode_map(MAP)
    server.first[PIN_ADDRESS] = [Answer(status, b"")] * 3
    with pytest.raises(Unreachable, match=f"status {status}, 3 times"):
        source_of(server).forest(REQUEST)


def test_what_is_not_there_is_said_in_the_servers_words_if_they_can_be_shown(server, source_of):
    with pytest.raises(NotOffered, match="does not have it: 'nothing lies here'"):
        source_of(server).forest(OTHER_REQUEST)
    path = addresses.pin_address(map_id(MAP), request_id(OTHER_REQUEST))
    server.first[path] = [Answer(404, b"\x1b[2Jgotcha")]
    with pytest.raises(NotOffered) as refusal:
        source_of(server).forest(OTHER_REQUEST)
    assert "gotcha" not in str(refusal.value)


@pytest.mark.parametrize("status", [201, 204, 206, 400, 401, 403, 405, 418, 422])
def test_an_answer_that_nobody_asked_for_is_refused_and_not_asked_for_again(
    server, source_of, status
):
    server.first[INDEX] = [Answer(status, b"")]
    with pytest.raises(AnswerRefused, match=f"status {status}"):
        source_of(server).public_map()
    assert server.asked == [INDEX]


@pytest.mark.parametrize("content", [b"", b"{}", b"<html>", b"\xff", b"[" * 100_000])
def test_what_is_no_message_is_refused(server, source_of, content):
    server.files[INDEX] = content
    with pytest.raises(InvalidMessage):
        source_of(server).public_map()
    server.files[PIN_ADDRESS] = content[:1000]
    with pytest.raises(InvalidMessage):
        source_of(server).forest(REQUEST)
    server.first[PIN_ADDRESS] = [Answer(202, content[:1000])]
    with pytest.raises(InvalidMessage):
        source_of(server).forest(REQUEST)
