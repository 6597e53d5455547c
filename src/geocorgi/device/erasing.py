"""Erasing everything that was remembered and sent. What was spent stays spent.

Places, reports and where the user settled are overwritten and gone; the charges stay, with their
times rounded up to the hour, so that the hour is all that is left of a journey and nothing frees
early. The next draw of every place is a fresh one, and charged.
"""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from geocorgi.device.ledger_file import FILE, connect, named_refusals, transaction, witness_of
from geocorgi.device.secret import device_secret
from geocorgi.errors import BadFile

SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class Erased:
    """How much is gone, and how many charges stay."""

    places: int
    reports: int
    charges_kept: int


def erase(folder: Path) -> Erased:
    """Erase the folder's ledger down to its charges; a secret that was lost is made anew."""
    if not (folder / FILE).exists():
        return Erased(0, 0, 0)
    secret = device_secret(folder)
    connection = connect(folder / FILE)
    try:
        with transaction(connection) as held:
            places = _count(held, "(SELECT DISTINCT place FROM memory)")
            erased = Erased(places, _count(held, "history"), _count(held, "charges"))
            _forget(held)
            held.execute("UPDATE witness SET of_secret = ?", [witness_of(secret)])
        with named_refusals():  # what the log and free pages still hold goes as well
            connection.execute("VACUUM")
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise BadFile(
                f"another process reads {FILE}, and what was erased may stand there until it ends: "
                "end it and erase again"
            )
    finally:
        connection.close()
    return erased


def _forget(held: sqlite3.Connection) -> None:
    held.execute("DELETE FROM memory")
    held.execute("DELETE FROM history")
    held.execute(
        "UPDATE present SET last_drawn = NULL, last_per_km = NULL, last_area = NULL, "
        "last_rows = NULL, settled = NULL, towards = NULL, since = NULL"
    )
    charges = held.execute("SELECT time, epsilon_per_km FROM charges ORDER BY time").fetchall()
    held.execute("DELETE FROM charges")
    held.executemany(
        "INSERT INTO charges VALUES (?, ?)",
        [(math.ceil(time / SECONDS) * SECONDS, epsilon) for time, epsilon in charges],
    )


def _count(held: sqlite3.Connection, table: str) -> int:
    (count,) = held.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our own names
    return int(count)
