"""The same forest from a real Dask scheduler with two worker processes, started here."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from geocorgi.errors import GenerationFailed, InvalidInput
from geocorgi.generate.privacy_forest import SubtreeDone, privacy_forest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.wire.maps import small_map

pytest.importorskip("distributed", reason="distributed is missing: pip install 'geocorgi[cluster]'")
from geocorgi.generate import privacy_forest_cluster
from geocorgi.generate.privacy_forest_cluster import cluster_executor, require_safe

MAP = small_map(filters={})
REQUEST = request_for(map_id(MAP), CatalogueEntry(1, None, 0, Rows.DROP, 5.0))
# The library's own threads and sockets are not this project's to close.
pytestmark = pytest.mark.filterwarnings("default")


@dataclass
class Cluster:
    address: str
    workers: list[subprocess.Popen] = field(default_factory=list)


def start(module: str, *options: str, log: Path) -> subprocess.Popen:
    with log.open("wb") as messages:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard",
             "--host", "127.0.0.1", *options],
            stdout=messages, stderr=messages,
        )  # fmt: skip


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    known = folder / "scheduler.json"
    running = [
        start("dask_scheduler", "--port", "0", "--scheduler-file", str(known),
              log=folder / "scheduler.log")
    ]  # fmt: skip
    try:
        while not known.exists() or not known.read_text().strip():
            assert running[0].poll() is None, (folder / "scheduler.log").read_text()
            time.sleep(0.1)
        workers = [
            start("dask_worker", "--no-nanny", "--nthreads", "1", "--scheduler-file", str(known),
                  "--local-directory", str(folder), log=folder / f"worker{n}.log")
            for n in range(2)
        ]  # fmt: skip
        running += workers
        address = str(json.loads(known.read_text())["address"])
        wait_for_workers(address, 2)
        yield Cluster(address, workers)
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def wait_for_workers(address: str, count: int) -> None:
    from distributed import Client  # noqa: PLC0415

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)


def test_a_cluster_makes_the_same_bytes_and_survives_the_loss_of_a_worker(cluster):
    alone = forest_bytes(privacy_forest(MAP, REQUEST))
    with cluster_executor(cluster.address) as executor:
        assert forest_bytes(privacy_forest(MAP, REQUEST, executor=executor)) == alone

    told: list[SubtreeDone] = []

    def kill_one(state: SubtreeDone) -> None:
        told.append(state)
        if state.done == 1:
            cluster.workers[0].kill()

    with cluster_executor(cluster.address) as executor:
        again = privacy_forest(MAP, REQUEST, executor=executor, on_progress=kill_one)
    assert forest_bytes(again) == alone
    assert len(told) == 7


def test_nobody_at_the_address_is_a_refusal(monkeypatch):
    monkeypatch.setattr(privacy_forest_cluster, "SECONDS_TO_ANSWER", 1)
    with (
        pytest.raises(GenerationFailed, match="no scheduler"),
        cluster_executor("tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "ucx://127.0.0.1:1", ""]
)
def test_public_addresses_are_encrypted_or_refused(address):
    with pytest.raises(InvalidInput, match="tls://"):
        require_safe(address)


@pytest.mark.parametrize(
    "address", ["tls://10.0.0.1:8786", "tcp://127.0.0.1:1", "127.0.0.1:1", "tcp://[::1]:1"]
)
def test_this_machine_and_encrypted_ones_are_asked(address):
    assert require_safe(address) == address
