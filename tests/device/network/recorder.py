"""A wire-tap: it passes bytes on to a server and keeps all that went there, by connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Recorder:
    """What left, one entry a connection, in the order in which connections were opened."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.left: list[bytearray] = []
        self.passing: list[threading.Thread] = []

    def taken(self) -> tuple[bytes, ...]:
        """Return what left since the last time, once every connection is closed."""
        for thread in self.passing:
            thread.join()
        taken = tuple(bytes(one) for one in self.left)
        self.left.clear()
        self.passing.clear()
        return taken


@contextmanager
def recording(url: str) -> Iterator[Recorder]:
    """Lend a recorder in front of a server on this machine."""
    target = urlsplit(url).port
    with socket.create_server(("127.0.0.1", 0)) as listening:
        recorder = Recorder(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        over = threading.Event()
        thread = threading.Thread(target=_listen, args=(listening, target, recorder, over))
        thread.start()
        try:
            yield recorder
        finally:
            over.set()
            socket.create_connection(listening.getsockname()).close()
            thread.join()


def _listen(
    listening: socket.socket, target: int, recorder: Recorder, over: threading.Event
) -> None:
    while True:
        client, _ = listening.accept()
        if over.is_set():
            client.close()
            return
        recorder.left.append(bytearray())
        tap = threading.Thread(target=_tap, args=(client, target, recorder.left[-1]))
        recorder.passing.append(tap)
        tap.start()


def _tap(client: socket.socket, target: int, kept: bytearray) -> None:
    with client, socket.create_connection(("127.0.0.1", target)) as server:
        back = threading.Thread(target=_pass_on, args=(server, client, bytearray()))
        back.start()
        _pass_on(client, server, kept)
        back.join()


def _pass_on(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            kept += piece
            sink.sendall(piece)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
