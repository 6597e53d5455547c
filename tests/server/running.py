"""Real servers on loopback, started and stopped by the tests."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import NamedTuple, TypeVar

from geocorgi.server.at_hand import AtHand
from geocorgi.server.service import Service
from geocorgi.server.serving import Listening, listening_socket, new_server
from geocorgi.server.store import open_store
from geocorgi.wire.map_codec import encode_map
from geocorgi.wire.public_map import PublicMap

SECONDS = 60.0
Found = TypeVar("Found")


class Answered(NamedTuple):
    """One answer: its status, its headers in lower case, its bytes."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def fields(self) -> dict:
        return json.loads(self.content)


class Asked:
    """A server at a port of this machine, and what it has at hand where it runs in here."""

    def __init__(self, port: int, at_hand: AtHand | None = None) -> None:
        self.port, self.at_hand = port, at_hand

    def get(self, address: str, method: str = "GET", **headers: str) -> Answered:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, f"/{address}", headers=named)
            return _answered(connection.getresponse())
        finally:
            connection.close()

    def until(self, address: str, status: int = 200) -> Answered:
        """Ask again until it answers so."""
        return wait_for(lambda: found if (found := self.get(address)).status == status else None)

    def metric(self, name: str) -> float:
        """Return the sum over all labels."""
        lines = self.get("metrics").content.decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


class Running(Asked):
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int, said: list[str]) -> None:
        super().__init__(port)
        self.process, self.said = process, said

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        self.process.send_signal(with_signal)
        return self.process.wait(SECONDS)


@contextmanager
def running(store: Path | str, *options: object) -> Iterator[Running]:
    """Lend a server over a store on a free port; what is still running at the end is killed."""
    command = [sys.executable, "-m", "geocorgi.server.cli", "serve", "--port", "0", "--store"]
    with started([*command, str(store), *(str(option) for option in options)]) as server:
        yield server


@contextmanager
def started(command: list[str], **environment: str) -> Iterator[Running]:
    """Lend what a command serves; what is still running at the end is killed."""
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    )
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.extend(iter(process.stderr.readline, "")))
    try:
        reader.start()
        yield Running(process, wait_for(lambda: _port(said, process)), said)
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


@contextmanager
def running_here(store: Path, state: Path, most_connections: int = 1_000) -> Iterator[Asked]:
    """Lend a server over a store on a free port, in a thread of this process."""
    with listening_socket(Listening(port=0)) as listener:
        service = Service(open_store(str(store)), state)
        server = new_server(service, listener, most_connections)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_for(lambda: server.started or None)
            yield Asked(listener.getsockname()[1], service.at_hand)
        finally:
            server.should_exit = True
            thread.join()


def wait_for(look: Callable[[], Found | None]) -> Found:
    """Return what looking finds as soon as it finds something."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if (found := look()) is not None:
            return found
        time.sleep(0.02)
    raise TimeoutError("it did not happen")


def map_file(folder: Path, public_map: PublicMap) -> Path:
    """Write a map to a file."""
    path = folder / "map.json"
    path.write_bytes(encode_map(public_map))
    return path


def _port(said: list[str], process: subprocess.Popen[str]) -> int | None:
    found = re.search(r"ready: http://127\.0\.0\.1:(\d+)/", "".join(said))
    if found is None and process.poll() is not None:
        raise ChildProcessError("".join(said))
    return int(found.group(1)) if found else None


def _answered(response: HTTPResponse) -> Answered:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answered(response.status, headers, response.read())
