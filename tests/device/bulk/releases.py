"""Small releases for the tests; run as a program, one that is killed (SIGKILL) at some step.

``killed FOLDER STEP``: release ``rows.csv`` of the folder to ``out.parquet``, and die before the
STEP-th thing that touches the disk: an SQL statement, or a file that gets its name.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
from pathlib import Path

from geocorgi import files
from geocorgi.checkins import blocks
from geocorgi.checkins.layouts import Columns
from geocorgi.device import ledger_file
from geocorgi.device.areas import ListedCells
from geocorgi.device.bulk import bucket, whole
from geocorgi.device.bulk.job import Job
from geocorgi.device.bulk.preparing import Wish, job_of
from geocorgi.device.bulk.whole import Whole, protect
from geocorgi.device.policy import Budget, Policy, Protection
from geocorgi.device.preparation import Prepared, prepare
from geocorgi.matrix.prunable import Rows
from geocorgi.tree import cells
from tests.device.forests import device_on
from tests.wire.maps import LEAVES, small_map

MAP = small_map()
REMOVED = LEAVES[10]
COLUMNS = Columns(location=None)
SMALL_BLOCK = 2_000


def prepared_for(
    ceiling: float | None = None, rows: Rows = Rows.KEEP, level: int = 1, epsilon: float = 5.0,
    hidden: int = 2,
) -> Prepared:  # fmt: skip
    """Return a device that removes one leaf, and reports cells of the level."""
    policy = Policy(
        hidden, level, rows=rows, budget=Budget(ceiling_per_km=ceiling),
        black_list=(ListedCells((REMOVED,)),), protection=Protection(epsilon),
    )  # fmt: skip
    return prepare(policy, device_on(MAP))


def wish_in(folder: Path, source: str = "rows.csv", **changes) -> Wish:
    """Return the wish to release a file of the folder."""
    usual = {
        "source": folder / source,
        "out": folder / "out.parquet",
        "columns": COLUMNS,
        "keep": ("user", "time"),
        "memories": folder / "memories",
    }
    return Wish(**(usual | changes))


def released(folder: Path, prepared: Prepared | None = None, **changes) -> tuple[Job, Whole]:
    """Release a file of the folder."""
    wish = wish_in(folder, **changes)
    job = job_of(wish, prepared or prepared_for())
    return job, protect(job, wish.out)


def write_rows(path: Path, count: int, users: int = 20, seed: int = 1) -> list[tuple[str, str]]:
    """Write rows of made-up people at leaves' centres; return the user and leaf of each."""
    chance = random.Random(seed)  # noqa: S311 - made-up people
    rows = [(f"u{chance.randrange(users)}", chance.choice(LEAVES)) for _ in range(count)]
    write_at(path, rows)
    return rows


def write_at(path: Path, rows: list[tuple[str, str]]) -> None:
    """Write rows of users at leaves' centres, a second apart."""
    lines = ["venue,user,time,latitude,longitude"]
    for number, (user, leaf) in enumerate(rows):
        latitude, longitude = cells.centre(leaf)
        time = f"2025-06-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        lines.append(f"bar-{leaf},{user},{time},{latitude},{longitude}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def die_before(step: int) -> None:
    """Kill this process before its ``step``-th statement or naming of a file."""
    seen = 0

    def watch(_what: object = None) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)

    connect, publish = sqlite3.connect, files.publish

    def watched(*arguments, **options) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(watch)
        return connection

    def watched_publish(finished: Path, path: Path) -> None:
        watch()
        publish(finished, path)

    ledger_file.sqlite3.connect = watched
    bucket.publish = whole.publish = watched_publish


def killed(folder: Path, steps: list[int]) -> None:
    """Release the folder's rows once for each step, in a process that dies there."""
    blocks.BLOCK_BYTES = SMALL_BLOCK
    prepared = prepared_for()
    for step in steps:
        child = os.fork()
        if not child:
            die_before(step)
            released(folder, prepared)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        sys.stdout.write(f"{step} {status}\n")


if __name__ == "__main__":
    killed(Path(sys.argv[2]), [int(step) for step in sys.argv[3:]])
