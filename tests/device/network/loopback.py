"""Servers on this machine that say, byte for byte, what a test has them say."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

Script = bytes | Callable[[socket.socket], None]


class Loopback:
    """A server's address, and every request that reached it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"
        self.requests: list[bytes] = []
        self.over = threading.Event()


def answer(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return an answer of a server that then closes the connection."""
    said = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {said}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@contextmanager
def serving(*scripts: Script, until: bytes = b"\r\n\r\n") -> Iterator[Loopback]:
    """Lend a server that plays one script a connection, the last one again and again.

    It begins once the client has sent what ends a request's headers, or something else that may
    be named, or (empty) at once.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Loopback(listening.getsockname()[1])
        thread = threading.Thread(
            target=_serve, args=(listening, server, scripts, until), daemon=True
        )
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", server.port)).close()
            thread.join()


def read_head(connection: socket.socket, until: bytes = b"\r\n\r\n") -> bytes:
    """Return what a client sent up to the end of its headers."""
    head = b""
    while until not in head:
        piece = connection.recv(65536)
        if not piece:
            break
        head += piece
    return head


def _serve(
    listening: socket.socket, server: Loopback, scripts: Sequence[Script], until: bytes
) -> None:
    threads = []
    turn = 0
    while True:
        connection, _ = listening.accept()
        if server.over.is_set():
            connection.close()
            break
        script = scripts[min(turn, len(scripts) - 1)]
        turn += 1
        threads.append(threading.Thread(target=_play, args=(connection, server, script, until)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _play(connection: socket.socket, server: Loopback, script: Script, until: bytes) -> None:
    with connection, suppress(OSError):
        server.requests.append(read_head(connection, until))
        if callable(script):
            script(connection)
        else:
            connection.sendall(script)
