"""Real processes that use one ledger, killed or at once. Run as a program by the tests.

``steps FOLDER``: for n = 1, 2, …, a process of its own in a folder of its own begins a ledger and
asks for a report, and kills itself (SIGKILL) before its n-th SQL statement, and once more after its
last one; a second process then asks again, whole. Prints one JSON line for each n.

``race FOLDER CEILING PLACE PLACE …``: as many processes as places ask at once. Prints a JSON line
for each.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sqlite3
import sys
from pathlib import Path

from geocorgi.device import ledger_file
from geocorgi.device.ledger import Ledger
from geocorgi.device.memory import Terms
from geocorgi.device.policy import Budget
from geocorgi.errors import BudgetSpent
from geocorgi.tree.location_tree import LocationTree

LEAVES = LocationTree("872830828ffffff", 2).leaves
RESOLUTION = 9
MOST_STEPS = 200


def killed_before(step: int) -> None:
    """Kill this process when it is about to run its ``step``-th SQL statement."""
    seen = 0
    connect = sqlite3.connect

    def watch(_statement: str) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(*arguments, **options) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(watch)
        return connection

    ledger_file.sqlite3.connect = watched


def ask(folder: Path, real_leaf: str, ceiling: float | None = None) -> str:
    """Ask for a report; every draw is another leaf, and is noted outside of the ledger."""

    def draw() -> str:
        leaf = secrets.choice(LEAVES)
        with (folder / "draws").open("a") as file:
            file.write(leaf + "\n")
        return leaf

    with Ledger(folder) as ledger:
        terms = Terms("somebody", 1.0, RESOLUTION, budget=Budget(ceiling_per_km=ceiling))
        return ledger.report(real_leaf, draw, terms).cell


def in_a_process(work) -> tuple[int, str]:
    """Run the work in a forked process; return how it ended and what it answered."""
    reads, writes = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reads)
        os.write(writes, work().encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        answer = pipe.read()
    return os.waitpid(child, 0)[1], answer


def steps(folder: Path) -> None:
    for step in range(1, MOST_STEPS):
        place = folder / f"{step:03}"
        place.mkdir(mode=0o700)

        def interrupted(place: Path = place, step: int = step) -> str:
            killed_before(step)
            cell = ask(place, LEAVES[0])
            os.kill(os.getpid(), signal.SIGKILL)  # charged and drawn, and nobody told
            return cell

        status, told = in_a_process(interrupted)
        again = [in_a_process(lambda place=place: ask(place, LEAVES[0]))[1] for _ in range(2)]
        draws = (place / "draws").read_text().split()
        sys.stdout.write(json.dumps([step, status, told, again, draws]) + "\n")
        if statements_of(place.with_suffix(".counted")) < step:
            return


def statements_of(place: Path) -> int:
    """Return how many SQL statements beginning a ledger and one report take."""
    place.mkdir(mode=0o700, exist_ok=True)

    def counted() -> str:
        seen: list[str] = []
        connect = sqlite3.connect

        def watched(*arguments, **options) -> sqlite3.Connection:
            connection = connect(*arguments, **options)
            connection.set_trace_callback(seen.append)
            return connection

        ledger_file.sqlite3.connect = watched
        ask(place, LEAVES[0])
        return str(len(seen))

    return int(in_a_process(counted)[1])


def race(folder: Path, ceiling: float, places: list[int]) -> None:
    ready, go = os.pipe()
    children = []
    for place in places:
        child = os.fork()
        if not child:
            os.close(go)
            os.read(ready, 1)  # returns when the parent closes its end: all at once
            try:
                answer = ask(folder, LEAVES[place], ceiling)
            except BudgetSpent:
                answer = None
            os.write(1, (json.dumps([place, answer]) + "\n").encode())
            os._exit(0)
        children.append(child)
    os.close(go)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        steps(Path(sys.argv[2]))
    else:
        race(Path(sys.argv[2]), float(sys.argv[3]), [int(place) for place in sys.argv[4:]])
