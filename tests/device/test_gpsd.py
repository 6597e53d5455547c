"""gpsd on this machine, played over a real socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from geocorgi.device.gpsd import located_by_gpsd
from geocorgi.errors import InvalidInput, NotLocated
from geocorgi.tree import cells
from tests.wire.maps import LEAVES, small_map

LATITUDE, LONGITUDE = cells.centre(LEAVES[7])
VERSION = {"class": "VERSION", "release": "3.25", "proto_major": 3}
FIX = {"class": "TPV", "mode": 3, "lat": LATITUDE, "lon": LONGITUDE}


def lines(*reports: dict) -> bytes:
    return b"".join(json.dumps(report).encode() + b"\n" for report in reports)


@contextmanager
def gpsd(answer: bytes, *, hang: bool = False) -> Iterator[tuple[str, list[bytes]]]:
    """Listen once, and say the answer to whoever asks."""
    heard: list[bytes] = []
    done = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            heard.append(connection.recv(1_000))
            with suppress(ConnectionError):  # whoever asked may have heard enough
                for start in range(0, len(answer), 50):  # in pieces, as networks do
                    connection.sendall(answer[start : start + 50])
            if hang:
                done.wait(10)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}", heard
    finally:
        done.set()
        listener.close()
        server.join(10)


def test_the_first_position_is_taken():
    no_fix = {"class": "TPV", "mode": 1}
    with gpsd(lines(VERSION, {"class": "SKY"}, no_fix, FIX), hang=True) as (address, heard):
        found = located_by_gpsd(address, 5)
    assert found.leaf_of(small_map()) == LEAVES[7]
    assert heard == [b'?WATCH={"enable":true,"json":true};\n']


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        lines(VERSION),
        lines({"class": "TPV", "mode": 3, "lat": str(LATITUDE), "lon": LONGITUDE}),
        lines({"class": "TPV", "mode": 0, "lat": LATITUDE, "lon": LONGITUDE}),
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"[1]\n3\nnull\n" + b'{"a":' * 3_000 + b"\n",
        b"x" * 40_000,
    ],
)
def test_where_no_position_comes_it_says_so(answer):
    with gpsd(answer) as (address, _), pytest.raises(NotLocated, match="has no position"):
        located_by_gpsd(address, 5)


def test_a_receiver_without_a_fix_is_waited_for_only_so_long():
    with gpsd(lines(VERSION), hang=True) as (address, _), pytest.raises(NotLocated) as refusal:
        located_by_gpsd(address, 0.2)
    assert "gpsd at 127.0.0.1" in str(refusal.value)


def test_nobody_there_is_said():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NotLocated, match="refused"):
        located_by_gpsd(f"127.0.0.1:{port}", 1)


@pytest.mark.parametrize(
    ("address", "says"),
    [("gps.example:2947", "this machine only"), ("10.0.0.1:2947", "this machine only"),
     ("2947", "HOST:PORT"), ("localhost:0", "HOST:PORT"), ("localhost:x", "HOST:PORT")],
)  # fmt: skip
def test_other_machines_and_no_addresses_are_refused(address, says):
    with pytest.raises(InvalidInput, match=says):
        located_by_gpsd(address)
