"""The files of deploy/, with the places of a test in the place of an operator's."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
AROUND = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    {server}
}}
"""


def example(name: str, **places: str) -> str:
    """Return a file of deploy/ with every one of these places replaced; all of them occur."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    for usual, here in places.items():
        assert usual in text, f"{name} does not say {usual}"
        text = text.replace(usual, here)
    return text


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@contextmanager
def nginx(server: str, port: int, folder: Path) -> Iterator[None]:
    """Run nginx with an example as its only server."""
    folder.chmod(0o755)
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, server=server))
    with (folder / "said").open("wb") as words:
        running = subprocess.Popen(
            ["nginx", "-p", folder, "-c", folder / "nginx.conf", "-g", "user root;"],
            stdout=words, stderr=words,
        )  # fmt: skip
    try:
        for _ in range(200):
            assert running.poll() is None, (folder / "said").read_text()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield
    finally:
        running.terminate()
        running.wait(10)
