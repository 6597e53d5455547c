"""The service over real sockets: built once, the same bytes for everyone, nothing lost."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from geocorgi.errors import BadFile, InvalidInput, SubtreeFailed
from geocorgi.matrix.forest_file import forest_from_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.server import builds
from geocorgi.server.folder_shelf import FolderShelf
from geocorgi.server.service import AGAIN
from geocorgi.server.serving import Listening, listening_socket
from geocorgi.server.state_folder import locked
from geocorgi.server.store import open_store
from geocorgi.wire.addresses import (
    MAP_INDEX,
    forest_address,
    map_address,
    pin_address,
    pins_address,
)
from geocorgi.wire.build_progress import decode_progress
from geocorgi.wire.canonical import digest
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_pin import decode_pin, decode_pins
from geocorgi.wire.forest_request import ForestRequest, request_for, request_id
from geocorgi.wire.map_codec import encode_map
from geocorgi.wire.map_index import decode_index
from geocorgi.wire.refusal import decode_refusal
from tests.server.running import Asked, map_file, running, running_here, wait_for
from tests.server.stores import CITY, ID, NAMES, PINS, REQUESTS, file_of, fill, forest

EXTRA = CatalogueEntry(2, None, 0, Rows.KEEP, 15.0)


def fetched(server: Asked, request: ForestRequest) -> bytes:
    """Return the forest as a device gets it, judged as a device judges it."""
    pin = decode_pin(server.until(pin_address(request.map_id, request_id(request))).content)
    content = server.get(file_of(pin)).content
    assert (digest(content), len(content)) == (pin.sha256, pin.bytes)
    forest = forest_from_bytes(content)
    assert (forest.map_id, forest.epsilon_per_km) == (request.map_id, request.epsilon_per_km)
    return content


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "store")
    with running_here(folder / "store", folder / "state") as found:
        yield found


def test_the_index_names_the_map_and_the_map_is_its_name(server):
    index = decode_index(server.get(MAP_INDEX).content)
    (pin,) = index.maps
    answer = server.get(map_address(pin.map_id))
    assert answer.content == encode_map(CITY)
    assert (pin.map_id, pin.bytes) == (digest(answer.content), len(answer.content))


def test_two_hundred_who_ask_at_once_get_one_build(tmp_path):
    with running(tmp_path / "store", "--map", map_file(tmp_path, CITY)) as server:
        with ThreadPoolExecutor(50) as crowd:
            answers = list(crowd.map(server.get, [PINS[0]] * 200))
        waiting = [answer for answer in answers if answer.status == 202]
        assert len(waiting) > 100
        assert Counter(a.status for a in answers) == {202: len(waiting)} | (
            {200: 200 - len(waiting)} if len(waiting) < 200 else {}
        )
        assert {decode_progress(a.content).subtrees for a in waiting} == {7}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in waiting)
        fetched(server, REQUESTS[0])
        wait_for(lambda: server.metric("geocorgi_build_seconds_count") or None)  # counted after
        assert server.metric("geocorgi_build_seconds_count") == 1


def test_everyone_gets_the_same_bytes_and_they_never_change(server):
    pin = decode_pin(server.get(PINS[0]).content)
    plain = server.get(file_of(pin))
    packed = server.get(file_of(pin), accept_encoding="gzip")
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.content) < len(plain.content)
    for answer in (plain, packed):
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["vary"] == "Accept-Encoding"
        assert "set-cookie" not in answer.headers
    assert plain.headers["etag"] != packed.headers["etag"]


def test_caches_between_can_ask_whether_it_is_still_so(server):
    for address in (MAP_INDEX, map_address(ID), PINS[0]):
        tag = server.get(address).headers["etag"]
        again = server.get(address, if_none_match=f'"other", {tag}')
        assert (again.status, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert server.get(address, if_none_match='"other"').status == 200


def test_head_says_the_same_without_a_body(server):
    whole, head = server.get(map_address(ID)), server.get(map_address(ID), "HEAD")
    assert (head.status, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))


def test_the_pins_of_a_whole_catalogue_fix_every_byte(server):
    pins = decode_pins(server.get(pins_address(ID)).content)
    assert [pin.request_id for pin in pins.pins] == sorted(NAMES)
    for pin in pins.pins:
        assert digest(server.get(file_of(pin)).content) == pin.sha256


NOWHERE = {
    "another entry": (pin_address(ID, request_id(request_for(ID, EXTRA))), 404),
    "another map": (pin_address("0" * 64, NAMES[0]), 404),
    "another map's file": (map_address("0" * 64), 404),
    "another content": (forest_address(ID, NAMES[0], "0" * 64), 404),
    "no digest": (f"v1/maps/{ID[:-1]}/map.json", 422),
    "capitals": (f"v1/maps/{'A' * 64}/map.json", 422),
    "a name that climbs": (f"v1/maps/..%2f..%2f{'a' * 52}/map.json", 404),
    "dots": ("v1/maps/../map", 404),
    "encoded dots": (f"v1/maps/{ID}/forests/%2e%2e/%2e%2e/map.json", 404),
    "the file of a page": ("v1/maps/%2e%2e%2f%2e%2e%2fetc%2fpasswd/map.json", 404),
    "a page": ("docs", 404),
    "nothing": ("", 404),
}  # fmt: skip


@pytest.mark.parametrize(("address", "status"), NOWHERE.values(), ids=NOWHERE.keys())
def test_nothing_else_is_there_and_nothing_starts(server, address, status):
    answer = server.get(address)
    assert answer.status == status
    assert decode_refusal(answer.content).reason
    assert server.metric("geocorgi_builds_waiting") == 0


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(server, method):
    answer = server.get(PINS[0], method)
    assert answer.status == 405
    assert decode_refusal(answer.content).reason


def test_what_was_queued_is_built_after_a_restart(tmp_path):
    with running(tmp_path / "store", "--map", map_file(tmp_path, CITY)) as server:
        for address in PINS:
            assert server.get(address).status == 202
        assert server.stop() == 0
    queue = tmp_path / "store.state" / "queue"
    assert len(list(queue.iterdir())) == 2
    with running(tmp_path / "store") as server:
        wait_for(lambda: server.metric("geocorgi_build_seconds_count") == 2 or None)
        assert [server.get(address).status for address in PINS] == [200, 200]
    assert list(queue.iterdir()) == []


@pytest.mark.parametrize(
    "seconds", [1.0, *(pytest.param(s, marks=pytest.mark.slow) for s in (0.0, 0.5, 1.5, 2.0, 3.0))]
)
def test_killed_at_any_moment_nothing_published_is_lost(tmp_path, seconds):
    with running(tmp_path / "store", "--map", map_file(tmp_path, CITY)) as server:
        for address in PINS:
            server.get(address)
        time.sleep(seconds)
        there = [address for address in PINS if server.get(address).status == 200]
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    wait_for(lambda: not builds_of(tmp_path) or None)
    with running(tmp_path / "store") as server:
        assert [server.get(address).status for address in there] == [200] * len(there)
        for request in REQUESTS:
            assert fetched(server, request) == forest(request)


def builds_of(folder: Path) -> list[int]:
    """Return the processes that build for a state folder."""
    command = ["ps", "-ww", "-eo", "pid,args"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    mine = [line for line in listed.splitlines() if f"{folder}/store.state/work" in line]
    return [int(line.split()[0]) for line in mine]


def test_a_build_that_loses_its_process_is_tried_again(tmp_path):
    fill(tmp_path / "store")
    (tmp_path / "store" / PINS[0]).unlink()
    with running_here(tmp_path / "store", tmp_path / "store.state") as server:
        assert server.get(PINS[0]).status == 202
        for pid in wait_for(lambda: builds_of(tmp_path) or None):
            os.kill(pid, signal.SIGKILL)
        assert fetched(server, REQUESTS[0]) == forest(REQUESTS[0])
        assert server.metric("geocorgi_builds_failed_total") == 0


def test_a_forest_that_cannot_be_built_is_not_tried_again(tmp_path, monkeypatch):
    async def refuse(*_: object) -> None:
        tried.append(1)
        raise SubtreeFailed("7 of 7 subtrees have no matrix")

    tried: list[int] = []
    monkeypatch.setattr(builds, "run_build", refuse)
    open_store(str(tmp_path / "store")).publish_maps([CITY])
    with running_here(tmp_path / "store", tmp_path / "state") as server:
        assert server.get(PINS[0]).status == 202
        for _ in range(3):
            assert "asking again starts nothing" in server.until(PINS[0], 500).fields["reason"]
        assert server.metric("geocorgi_builds_failed_total") == len(tried) == 1
        assert not list((tmp_path / "state" / "queue").iterdir())


def test_a_damaged_forest_is_noticed_set_aside_and_built_again(tmp_path):
    store = fill(tmp_path / "store")
    pin = store.pin(ID, NAMES[0])
    path = tmp_path / "store" / file_of(pin)
    bad = path.read_bytes()[:-1] + b"\xff"
    path.write_bytes(bad)
    with running_here(tmp_path / "store", tmp_path / "state") as server:
        answer = server.get(file_of(pin))
        assert (answer.status, decode_refusal(answer.content).reason) == (503, AGAIN)
        assert int(answer.headers["retry-after"]) >= 1
        assert fetched(server, REQUESTS[0]) == forest(REQUESTS[0]) == path.read_bytes()
    aside = (tmp_path / "store" / "aside").glob("*.safetensors")
    assert [found.read_bytes() for found in aside] == [bad]


def test_neither_logs_nor_metrics_know_who_asked(tmp_path):
    fill(tmp_path / "store")
    with running(tmp_path / "store") as server:
        server.get(PINS[0], user_agent="someone in particular", referer="https://home.example/")
        server.get("v1/maps/37.7749,-122.4194/map.json")
        text = server.get("metrics").content.decode()
        assert server.stop(signal.SIGINT) == 130
    said = "".join(server.said)
    for trace in ("127.0.0.1", "37.77", "someone", "home.example", NAMES[0]):
        assert trace not in said.replace(f"ready: http://127.0.0.1:{server.port}/", "")
        assert trace not in text
    assert 'route="/v1/maps/{map_id}/forests/{request_id}/pin.json"' in text


def test_alive_and_ready(server):
    assert server.get("health").fields == {"alive": True}
    assert server.get("ready").fields == {"ready": True}


def test_two_servers_do_not_share_a_state_folder(tmp_path):
    with locked(tmp_path), pytest.raises(InvalidInput, match="another server works"):
        locked(tmp_path).__enter__()
    with locked(tmp_path):
        pass


def test_a_port_that_is_taken_is_one_sentence(server):
    with pytest.raises(InvalidInput, match=f"cannot listen on port {server.port} of 127.0.0.1"):
        listening_socket(Listening(port=server.port))


def test_a_store_that_cannot_be_read_is_said_and_nothing_is_set_aside(tmp_path, monkeypatch):
    store = fill(tmp_path / "store")
    pin = store.pin(ID, NAMES[0])

    def unreadable(*_: object) -> None:
        raise BadFile("the disk is gone")

    with running_here(tmp_path / "store", tmp_path / "state") as server:
        monkeypatch.setattr(FolderShelf, "read", unreadable)
        answer = server.get(file_of(pin))
        assert (answer.status, answer.headers["retry-after"]) == (503, "60")
        assert "cannot read or write its store" in decode_refusal(answer.content).reason
        assert server.get("health").status == 200
    assert not (tmp_path / "store" / "aside").exists()
