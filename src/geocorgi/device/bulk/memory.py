"""The memory of a release: one drawn leaf for each user's real leaf, and what each user has spent.

The same promises as a device's ledger, for many users and a batch at a time. A batch is committed
once: its draws, charges and account in one transaction, under the run and the row it begins with,
so that a run that was killed goes on without drawing or charging anything twice.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from geocorgi.device.ledger_file import named_refusals, open_ledger, transaction
from geocorgi.device.memory import Keeps
from geocorgi.device.policy import Budget

NAME_BYTES = 16  # of the 32 that the secret names with: no two of any release's are alike
AT_ONCE = 10_000  # names in one question

TABLES = """
CREATE TABLE memory (
    place BLOB PRIMARY KEY, drawn TEXT NOT NULL, epsilon_per_km REAL NOT NULL,
    area_resolution INTEGER NOT NULL, rows TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE charges (
    owner BLOB NOT NULL, run BLOB NOT NULL, time REAL NOT NULL, draws INTEGER NOT NULL,
    epsilon_per_km REAL NOT NULL, PRIMARY KEY (owner, run, epsilon_per_km)
) WITHOUT ROWID;
CREATE TABLE batches (
    run BLOB NOT NULL, first INTEGER NOT NULL, account TEXT NOT NULL, PRIMARY KEY (run, first)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Heaviest:
    """The most that any one user has spent in all releases of this memory.

    ``weakest`` is what all draws that are remembered keep, None where none is: the largest epsilon,
    the finest subtree, and rows as dropped if any draw's were.
    """

    users: int
    draws: int
    epsilon_per_km: float
    weakest: Keeps | None


class BulkMemory:
    """The memory of all users of one bucket, in one folder."""

    __slots__ = ("_connection", "_secret")

    def __init__(self, folder: Path) -> None:
        """Open the folder's memory; the first time, make it."""
        self._connection, self._secret = open_ledger(folder, TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _where: TracebackType | None,
    ) -> None:
        self._connection.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the memory alone; all that is written inside reaches the disk, or nothing."""
        with transaction(self._connection):
            yield

    def place(self, user: str, leaf: str) -> bytes:
        """Return the name of a user's real leaf."""
        return self._secret.name("place", user, leaf)[:NAME_BYTES]

    def owner(self, user: str) -> bytes:
        """Return the name of a user."""
        return self._secret.name("owner", user)[:NAME_BYTES]

    def remembered(self, places: Sequence[bytes]) -> dict[bytes, str]:
        """Return what was drawn for those of the places that something was drawn for."""
        question = "SELECT place, drawn FROM memory WHERE place IN ({})"
        return dict(_answers(self._connection, question, places))

    def spent(
        self, owners: Sequence[bytes], budget: Budget, now: datetime
    ) -> Mapping[bytes, Decimal]:
        """Return what each owner has spent within the budget's period."""
        since = (now - timedelta(hours=budget.period_hours)).timestamp()
        question = "SELECT owner, time, draws, epsilon_per_km FROM charges WHERE owner IN ({})"
        sums: dict[bytes, Decimal] = {}
        for owner, time, draws, epsilon in _answers(self._connection, question, owners):
            if time > since:
                sums[owner] = sums.get(owner, Decimal(0)) + draws * Decimal(repr(epsilon))
        return sums

    def remember(self, drawn: Mapping[bytes, str], keeps: Keeps) -> None:
        """Keep what was drawn, and what that keeps."""
        kept = (keeps.epsilon_per_km, keeps.area_resolution, keeps.rows.value)
        rows = [(place, leaf, *kept) for place, leaf in drawn.items()]
        self._connection.executemany("REPLACE INTO memory VALUES (?, ?, ?, ?, ?)", rows)

    def charge(
        self, run: bytes, draws: Mapping[bytes, int], epsilon_per_km: float, now: datetime
    ) -> None:
        """Charge each owner so many fresh draws."""
        rows = [(owner, run, now.timestamp(), draws[owner], epsilon_per_km) for owner in draws]
        self._connection.executemany(
            "INSERT INTO charges VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET draws = draws + excluded.draws, time = max(time, excluded.time)",
            rows,
        )

    def account(self, run: bytes, first: int) -> dict[str, int] | None:
        """Return the account of the batch from that row on, None if it is not committed."""
        row = self._connection.execute(
            "SELECT account FROM batches WHERE run = ? AND first = ?", [run, first]
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def settle_account(self, run: bytes, first: int, account: Mapping[str, int]) -> None:
        """Say that a batch is done, and how."""
        self._connection.execute(
            "REPLACE INTO batches VALUES (?, ?, ?)", [run, first, json.dumps(dict(account))]
        )

    def forget_run(self, run: bytes) -> None:
        """Forget which batches a run has done: it is over."""
        with self.alone():
            self._connection.execute("DELETE FROM batches WHERE run = ?", [run])

    def heaviest(self) -> Heaviest:
        """Return the most that any user has spent, ever."""
        with named_refusals():
            row = self._connection.execute(
                "SELECT count(*), max(draws), max(epsilon) FROM (SELECT sum(draws) AS draws, "
                "sum(draws * epsilon_per_km) AS epsilon FROM charges GROUP BY owner)"
            ).fetchone()
            question = "SELECT max(epsilon_per_km), max(area_resolution), min(rows) FROM memory"
            kept = self._connection.execute(question).fetchone()
        weakest = None if kept[0] is None else Keeps(*kept)  # 'drop' comes before 'keep'
        return Heaviest(row[0], row[1] or 0, row[2] or 0.0, weakest)


def _answers(
    connection: sqlite3.Connection, question: str, names: Sequence[bytes]
) -> Iterable[tuple[Any, ...]]:
    """Yield the rows of a question about many names, some thousands at a time."""
    for start in range(0, len(names), AT_ONCE):
        asked = names[start : start + AT_ONCE]
        yield from connection.execute(question.format(",".join("?" * len(asked))), asked)
