"""A real Dask scheduler with worker processes of its own, started and ended by a test."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import REPOSITORY


@dataclass
class Cluster:
    """Where the scheduler listens, and the workers, which may be killed."""

    address: str
    workers: list[subprocess.Popen] = field(default_factory=list)


@contextmanager
def cluster_in(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Lend a cluster on this machine; what it says lies in the folder."""
    known = folder / "scheduler.json"
    where = ("--scheduler-file", str(known))
    running = [_started("dask_scheduler", "--port", "0", *where, log=folder / "scheduler.log")]
    try:
        while not known.exists() or not known.read_text().strip():
            assert running[0].poll() is None, (folder / "scheduler.log").read_text()
            time.sleep(0.1)
        alone = ("--no-nanny", "--nthreads", "1", "--local-directory", str(folder))
        started = [
            _started("dask_worker", *alone, *where, log=folder / f"worker{number}.log")
            for number in range(workers)
        ]
        running += started
        address = str(json.loads(known.read_text())["address"])
        _wait_for_workers(address, workers)
        yield Cluster(address, started)
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def _started(module: str, *options: str, log: Path) -> subprocess.Popen:
    with log.open("wb") as messages:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard",
             "--host", "127.0.0.1", *options],
            stdout=messages, stderr=messages, cwd=REPOSITORY,
        )  # fmt: skip


def _wait_for_workers(address: str, count: int) -> None:
    from distributed import Client  # noqa: PLC0415 - only where it is installed

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
