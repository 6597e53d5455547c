"""A folder behind a plain nginx is a complete server for a device."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from geocorgi.device.network.door import network
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.cli.command import said
from tests.device.forests import quick_forest
from tests.device.published import Published
from tests.wire.maps import small_map

ENTRIES = (CatalogueEntry(1, None, 0, "keep", 5.0), CatalogueEntry(1, None, 2, "keep", 5.0))
MAP = replace(small_map(), catalogue=ENTRIES)
CONFIGURATION = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/published;
        gzip_static on;
    }}
}}
"""


def write_files(published: Published, folder: Path) -> None:
    """Write what is published as a folder, with compressed siblings."""
    for name, content in published.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@pytest.fixture(scope="module")
def nginx(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("nginx")
    port = free_port()
    published = Published(MAP)
    for entry in ENTRIES:
        request = request_for(map_id(MAP), entry)
        published.publish(request, forest_bytes(quick_forest(MAP, request)))
    write_files(published, folder / "published")
    folder.chmod(0o755)
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port))
    with (folder / "said").open("wb") as words:
        running = subprocess.Popen(
            ["nginx", "-p", folder, "-c", folder / "nginx.conf", "-g", "user root;"],
            stdout=words, stderr=words,
        )  # fmt: skip
    try:
        for _ in range(100):
            assert running.poll() is None, (folder / "said").read_text()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/", folder
    finally:
        running.terminate()
        running.wait(10)


@pytest.mark.needs("nginx")
def test_everything_is_fetched_from_a_folder(nginx, tmp_path, monkeypatch, capsys):
    url, _ = nginx
    monkeypatch.setenv("GEOCORGI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    found = said(capsys, "sync", "--server", url, "--json")
    assert found.code == 0, found.err
    (one,) = json.loads(found.out)["maps"]
    assert (one["forests"], one["entries"], one["refused"]) == (2, 2, [])


@pytest.mark.needs("nginx")
def test_it_comes_compressed_and_is_unpacked(nginx):
    url, folder = nginx
    with network() as get:
        found = get(url + "v1/map", 4_000_000)
    assert found.content == (folder / "published/v1/map").read_bytes()
    sent = int((folder / "access.log").read_text().splitlines()[-1].split('"')[2].split()[1])
    assert sent == (folder / "published/v1/map.gz").stat().st_size


@pytest.mark.needs("nginx")
def test_what_is_not_there_is_not_there(nginx):
    url, _ = nginx
    with network() as get:
        assert get(url + "v1/maps/nothing", 1000).status == 404
