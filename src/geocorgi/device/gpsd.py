"""The door to gpsd, the daemon that speaks for a GPS receiver, on this machine only.

Its protocol is one JSON object a line (gpsd_json(5)). A position that leaves the machine
unencrypted is what this package is there to avoid, so other hosts are refused.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from geocorgi.device.network.address import is_loopback
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import InvalidInput, NotLocated

USUAL_ADDRESS = "127.0.0.1:2947"
WATCH = b'?WATCH={"enable":true,"json":true};\n'
MOST_BYTES = 1_000_000
LONGEST_LINE = 16_000
USUAL_SECONDS = 30.0
FIX_2D = 2


def located_by_gpsd(address: str = USUAL_ADDRESS, seconds: float = USUAL_SECONDS) -> Whereabouts:
    """Return the next position that gpsd has, or say why there is none."""
    host, port = _parted(address)
    until = time.monotonic() + seconds
    try:
        with socket.create_connection((host, port), timeout=seconds) as connection:
            connection.sendall(WATCH)
            point = _next_point(connection, until)
    except OSError as trouble:
        reason = trouble.strerror or "no answer in time"
    else:
        if point is not None:
            return Whereabouts(point)
        reason = f"it has no position (waited up to {seconds:g} seconds for a fix)"
    raise NotLocated(f"gpsd at {address}: {reason}")


def _parted(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise InvalidInput(f"gpsd's address is HOST:PORT, usually {USUAL_ADDRESS}")
    if not is_loopback(host):
        raise InvalidInput(
            "gpsd is asked on this machine only: from another one the real location would come "
            "over the network unencrypted"
        )
    return host, int(port)


def _next_point(connection: socket.socket, until: float) -> tuple[float, float] | None:
    """Read reports until one has a position, the time is over, or there is too much."""
    waiting, read = b"", 0
    while (left := until - time.monotonic()) > 0 and read < MOST_BYTES:
        connection.settimeout(left)
        piece = connection.recv(4_096)
        read += len(piece)
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in lines:
            if (point := _point(line)) is not None:
                return point
        if not piece or len(waiting) > LONGEST_LINE:
            return None
    return None


def _point(line: bytes) -> tuple[float, float] | None:
    """Return the position in a report, if it is one with a position."""
    try:
        found: Any = json.loads(line)
        if found["class"] != "TPV" or found["mode"] < FIX_2D:
            return None
        numbers = (found["lat"], found["lon"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return numbers if all(isinstance(one, int | float) for one in numbers) else None
