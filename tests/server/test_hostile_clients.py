"""A client that means harm, or cannot help it, is refused in bounds; everybody else is answered."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from geocorgi.server import guarded_protocol
from geocorgi.server.answer import message
from geocorgi.server.guarded_protocol import MOST_HEADER_BYTES
from geocorgi.wire.addresses import MAP_INDEX, map_address
from tests.server.running import Asked, running_here, wait_for
from tests.server.stores import ID, fill

LARGE_BYTES = 30_000_000
GOOD = f"GET /{MAP_INDEX} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
SHORT = 0.4


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "store")
    with running_here(folder / "store", folder / "state") as found:
        yield found


@pytest.fixture
def hasty(monkeypatch, server) -> Asked:
    """Lend the server with little patience."""
    monkeypatch.setattr(guarded_protocol, "SECONDS_TO_ASK", SHORT)
    monkeypatch.setattr(guarded_protocol, "SECONDS_BETWEEN_LOOKS", SHORT)
    return server


@contextmanager
def connected(server: Asked, receive_bytes: int | None = None) -> Iterator[socket.socket]:
    with socket.socket() as client:
        if receive_bytes is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.settimeout(20)
        client.connect(("127.0.0.1", server.port))
        yield client


def all_of(client: socket.socket) -> bytes:
    """Return everything until the server closes; a reset is an end, too."""
    found = b""
    try:
        while piece := client.recv(65_536):
            found += piece
    except ConnectionError:
        pass
    return found


def answered(server: Asked, request: bytes) -> bytes:
    with connected(server) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return all_of(client)


OVER = MOST_HEADER_BYTES + 1_000
TOO_MUCH = {
    "one long header": b"GET /v1/map HTTP/1.1\r\nHost: x\r\nX: " + b"a" * OVER,
    "many headers": b"GET /v1/map HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * (OVER // 6),
    "a long address": b"GET /" + b"a" * OVER,
    "a long query": b"GET /v1/map?" + b"a=b&" * (OVER // 4),
    "a long name of a header": b"GET /v1/map HTTP/1.1\r\nHost: x\r\n" + b"a" * OVER,
}


@pytest.mark.parametrize("request_", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_headers_beyond_the_bound_are_refused_before_they_end(server, request_):
    with connected(server) as client:
        client.sendall(request_)
        said = all_of(client)
    assert said.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ")) or said == b""
    assert server.get(MAP_INDEX).status == 200


def test_headers_below_the_bound_are_answered(server):
    padding = b"X: " + b"a" * (MOST_HEADER_BYTES - 300) + b"\r\n"
    said = answered(server, GOOD[:-2] + padding + b"Connection: close\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200 ")


def test_a_request_that_comes_a_byte_now_and_then_is_cut_off(hasty):
    begun = time.monotonic()
    with connected(hasty) as client:
        try:
            for byte in GOOD * 3:
                client.sendall(bytes([byte]))
                time.sleep(0.05)
        except ConnectionError:
            pass
        assert all_of(client) == b""
    assert time.monotonic() - begun < 15
    assert hasty.get(MAP_INDEX).status == 200


def test_who_says_nothing_is_cut_off(hasty):
    with connected(hasty) as client:
        assert all_of(client) == b""


@pytest.fixture(scope="module")
def large(server) -> bytes:
    """Lend a request for more than any socket's buffer holds."""
    server.at_hand.keep("large", message(bytes(LARGE_BYTES), "large"))
    return b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("times", [1, 3])
def test_who_does_not_read_its_answer_is_cut_off(hasty, large, times, caplog):
    with connected(hasty) as client:
        client.sendall(large * times)
        time.sleep(4 * SHORT)
        assert len(all_of(client)) < LARGE_BYTES
    assert hasty.get(MAP_INDEX).status == 200
    assert caplog.messages == []


def test_who_reads_slowly_is_answered_in_full(hasty, large, monkeypatch):
    monkeypatch.setattr(guarded_protocol, "LEAST_BYTES_BETWEEN_LOOKS", 1)
    with connected(hasty) as client:
        client.sendall(large.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        found = 0
        while piece := client.recv(2_000_000):
            found += len(piece)
            time.sleep(0.01)
    assert found > LARGE_BYTES


ODD = {
    "an encoded slash": b"GET /v1%2fmap HTTP/1.1\r\nHost: x\r\n",
    "an encoded NUL": b"GET /v1/map%00 HTTP/1.1\r\nHost: x\r\n",
    "a NUL": b"GET /v1/map\0 HTTP/1.1\r\nHost: x\r\n",
    "a half encoded letter": b"GET /v1/%f HTTP/1.1\r\nHost: x\r\n",
    "letters that are none": b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: x\r\n",
    "encoded letters that are none": b"GET /v1/%ff%fe HTTP/1.1\r\nHost: x\r\n",
    "two slashes": b"GET //v1//map HTTP/1.1\r\nHost: x\r\n",
    "a whole address": b"GET http://elsewhere.example/v1/map HTTP/1.1\r\nHost: x\r\n",
    "no host": b"GET /v1/nothing HTTP/1.1\r\n",
    "another protocol": b"GET /v1/nothing HTTP/9.9\r\nHost: x\r\n",
    "an old protocol": b"GET /v1/nothing HTTP/1.0\r\n",
    "an upgrade": b"GET /v1/x HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    "two lengths": b"GET /v1/map HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
    "a length and chunks": b"GET /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n",
    "a negative length": b"GET /v1/map HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n",
    "tunnels": b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n",
    "options of all": b"OPTIONS * HTTP/1.1\r\nHost: x\r\n",
}  # fmt: skip


@pytest.mark.parametrize("request_", ODD.values(), ids=ODD.keys())
def test_what_is_odd_is_refused_and_breaks_nothing(server, request_, capfd):
    said = answered(server, request_ + b"Connection: close\r\n\r\n")
    status = said[9:12]
    assert said == b"" or status in {b"200", b"400", b"404", b"405", b"422"}, said
    if status == b"200":
        assert b"geocorgi map index 1" in said
    assert server.get("health").status == 200
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_body_is_never_kept_in_memory(server):
    """Nobody asks for one; whoever sends one all the same is answered, and the rest is dropped."""
    head = b"PUT /v1/map HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n"
    with connected(server) as client:
        client.sendall(head)
        sent = 0
        try:
            while sent < 50_000_000:
                sent += client.send(b"0" * 65_536)
        except OSError:
            pass
        said = all_of(client)
    assert said[9:12] in {b"405", b""}
    assert sent < 20_000_000
    assert server.get(MAP_INDEX).status == 200


def test_requests_in_one_go_are_answered_in_their_order(server):
    address = map_address(ID)
    other = f"GET /{address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    with connected(server) as client:
        client.sendall(GOOD * 5 + other)
        said = all_of(client)
    assert said.count(b"HTTP/1.1 200 ") == 6
    assert said.index(b"geocorgi public map 1") > said.rindex(b"geocorgi map index 1")


def test_a_conditional_request_that_is_nonsense_is_answered_in_full(server):
    for tag in ('"', "*" * 5_000, "W/", "\x80", ", , ,"):
        assert server.get(MAP_INDEX, if_none_match=tag).status == 200


def test_a_crowd_beyond_the_bound_is_turned_away_and_the_rest_are_served(tmp_path):
    fill(tmp_path / "store")
    with (
        running_here(tmp_path / "store", tmp_path / "state", most_connections=8) as server,
        connected(server) as held,
    ):
        held.sendall(GOOD)
        assert held.recv(65_536).startswith(b"HTTP/1.1 200 ")
        many = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        wait_for(lambda: server.get(MAP_INDEX).status == 503 or None)
        for one in many:
            one.close()
        wait_for(lambda: server.get(MAP_INDEX).status == 200 or None)
