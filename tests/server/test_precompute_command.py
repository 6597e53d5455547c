"""``geocorgi-server precompute`` fills a store, goes on where it was, and mends what is damaged."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from geocorgi.errors import SubtreeFailed
from geocorgi.server import precompute
from geocorgi.server.store import open_store
from geocorgi.wire.addresses import pins_address
from geocorgi.wire.canonical import digest
from tests.cli.command import Said
from tests.clusters import cluster_in
from tests.server.command import said
from tests.server.running import map_file, wait_for
from tests.server.stores import CITY, ID, NAMES, REQUESTS, file_of, fill, forest


def run(capsys, *words: object) -> Said:
    return said(capsys, "precompute", *words)


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """Lend the requests that were generated; each forest is generated once a session."""

    def remembered(_, request, **__):
        if request not in REQUESTS:
            raise SubtreeFailed("7 of 7 subtrees have no matrix")
        asked.append(request)
        return forest(request)

    asked: list[str] = []
    monkeypatch.setattr(precompute, "privacy_forest", remembered)
    monkeypatch.setattr(precompute, "forest_bytes", lambda content: content)
    return asked


def test_the_catalogue_is_filled_once_and_its_pins_are_printed(capsys, tmp_path, made):
    words = ("--store", tmp_path / "store", "--map", map_file(tmp_path, CITY), "--json")
    code, out, err = run(capsys, *words)
    assert code == 0, err
    (found,) = json.loads(out)["maps"]
    assert (found["map_id"], found["entries"], found["built"]) == (ID, 2, 2)
    assert found["pins_sha256"] == digest((tmp_path / "store" / pins_address(ID)).read_bytes())
    assert "2 of 2" in err
    assert [(one["epsilon_per_km"], one["reused"]) for one in found["forests"]] == [
        (5.0, False), (15.0, False),
    ]  # fmt: skip
    assert sum(one["bytes"] for one in found["forests"]) == found["bytes"]
    again = json.loads(run(capsys, *words)[1])["maps"][0]
    assert (again["built"], again["pins_sha256"]) == (0, found["pins_sha256"])
    assert made == REQUESTS


def test_what_is_damaged_is_mended(capsys, tmp_path, made):
    store = fill(tmp_path)
    path = tmp_path / file_of(store.pin(ID, NAMES[1]))
    good = path.read_bytes()
    path.write_bytes(good[:-1])
    code, _, err = run(capsys, "--store", tmp_path)
    assert code == 0, err
    assert path.read_bytes() == good
    assert made == [REQUESTS[1]]


def test_a_forest_that_cannot_be_built_keeps_nothing_back(capsys, tmp_path, made, monkeypatch):
    monkeypatch.setitem(globals(), "REQUESTS", REQUESTS[1:])
    code, out, err = run(
        capsys, "--store", tmp_path / "store", "--map", map_file(tmp_path, CITY), "--json"
    )
    (found,) = json.loads(out)["maps"]
    assert code == 2
    assert "1 forests could not be built" in err
    assert (len(found["failed"]), found["built"], found["pins_sha256"]) == (1, 1, None)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "scheduler.example:8786", "nothing"])
def test_a_cluster_off_this_machine_is_spoken_to_by_tls_or_not_at_all(capsys, tmp_path, address):
    pytest.importorskip("distributed", reason="pip install 'geocorgi[cluster]'")
    words = ("--store", tmp_path / "store", "--map", map_file(tmp_path, CITY))
    code, _, err = run(capsys, *words, "--cluster", address)
    assert (code, "tls://HOST:PORT" in " ".join(err.split())) == (2, True)
    assert open_store(str(tmp_path / "store")).pin(ID, NAMES[0]) is None


@pytest.mark.slow
def test_a_cluster_fills_the_catalogue_with_the_same_bytes(tmp_path):
    pytest.importorskip("distributed", reason="pip install 'geocorgi[cluster]'")
    store = tmp_path / "store"
    command = [sys.executable, "-m", "geocorgi.server.cli", "precompute", "--store", str(store)]
    command += ["--map", str(map_file(tmp_path, CITY)), "--json"]
    with cluster_in(tmp_path, workers=1) as cluster:
        done = subprocess.run(
            [*command, "--cluster", cluster.address], check=True, capture_output=True, text=True
        )
    assert json.loads(done.stdout)["maps"][0]["built"] == 2
    filled = open_store(str(store))
    for name, request in zip(NAMES, REQUESTS, strict=True):
        assert filled.forest(filled.pin(ID, name)).content == forest(request)


@pytest.mark.slow
def test_interrupted_it_goes_on_where_it_was(tmp_path):
    store = tmp_path / "store"
    command = [sys.executable, "-m", "geocorgi.server.cli", "precompute", "--store", str(store)]
    command += ["--map", str(map_file(tmp_path, CITY))]
    work = tmp_path / "store.state" / "work"
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: list(work.rglob("*.safetensors")) or process.poll())
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    assert process.returncode in {130, 0}, said  # it may have been done already
    if process.returncode == 130:
        assert "run the same command again" in said
    time.sleep(0.1)
    subprocess.run(command, check=True, capture_output=True)
    for name, request in zip(NAMES, REQUESTS, strict=True):
        filled = open_store(str(store))
        assert filled.forest(filled.pin(ID, name)).content == forest(request)
