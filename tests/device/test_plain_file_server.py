"""A folder behind a plain nginx is a complete server for a device."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from geocorgi.device.network.door import network
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.wire.addresses import map_address
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.cli.command import said
from tests.deploy_examples import example, free_port, nginx
from tests.device.forests import quick_forest
from tests.device.published import Published
from tests.wire.maps import small_map

ENTRIES = (CatalogueEntry(1, None, 0, "keep", 5.0), CatalogueEntry(1, None, 2, "keep", 5.0))
MAP = replace(small_map(), catalogue=ENTRIES)


def write_files(published: Published, folder: Path) -> None:
    """Write what is published as a folder, with compressed siblings."""
    for name, content in published.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """Lend the published folder behind the operator's page's own example."""
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    published = Published(MAP)
    for entry in ENTRIES:
        request = request_for(map_id(MAP), entry)
        published.publish(request, forest_bytes(quick_forest(MAP, request)))
    write_files(published, folder / "published")
    (folder / "published" / "aside").mkdir()
    (folder / "published" / "aside" / "damaged").write_text("")
    places = {"127.0.0.1:8080": f"127.0.0.1:{port}", "/var/lib/geocorgi": str(folder)}
    with nginx(example("nginx-files.conf", **places), port, folder):
        yield f"http://127.0.0.1:{port}/", folder


@pytest.mark.needs("nginx")
def test_everything_is_fetched_from_a_folder(files, tmp_path, monkeypatch, capsys):
    url, _ = files
    monkeypatch.setenv("GEOCORGI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    found = said(capsys, "sync", "--server", url, "--json")
    assert found.code == 0, found.err
    (one,) = json.loads(found.out)["maps"]
    assert (one["forests"], one["entries"], one["refused"]) == (2, 2, [])


@pytest.mark.needs("nginx")
def test_it_comes_compressed_and_says_how_long_to_keep_it(files):
    url, folder = files
    mine, its_id = urlsplit(url).netloc, map_id(MAP)
    for address, caching in (("v1/map", "no-cache"), (map_address(its_id), "immutable")):
        connection = HTTPConnection(mine, timeout=10)
        connection.request("GET", f"/{address}", headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        assert answer.read() == (folder / "published" / f"{address}.gz").read_bytes()
        assert caching in answer.headers["Cache-Control"]
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert answer.headers["Content-Encoding"] == "gzip"
        connection.close()
    with network() as get:
        assert get(url + "v1/map", 4_000_000).content == (folder / "published/v1/map").read_bytes()


@pytest.mark.needs("nginx")
def test_nobody_is_noted(files):
    url, folder = files
    with network() as get:
        get(url + "v1/map", 4_000_000)
    assert not (folder / "access.log").read_text()


@pytest.mark.needs("nginx")
@pytest.mark.parametrize("address", ["v1/maps/nothing", "aside/damaged", "v1/", "", "v1/map.gz"])
def test_what_is_not_published_is_not_there(files, address):
    url, _ = files
    with network() as get:
        assert get(url + address, 1000).status == 404
