"""The ledger: what was drawn, charged and sent (ADR 10).

One transaction for one report: the budget is looked at first, the memory second, a fresh draw is
made while no other process can make one, and only what is on the disk is handed out. A crash
before that has changed nothing; after it, the same report is replayed free.

The ceiling is judged before anything depends on the place: at the ceiling a place that was
reported before is refused like any other, else an answer would tell old places from new ones.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from geocorgi.device.budget import Balance, Charge, balance
from geocorgi.device.ledger_file import damaged, named_refusals, open_ledger, transaction
from geocorgi.device.memory import Given, Keeps, Terms
from geocorgi.device.policy import AtCeiling, Budget
from geocorgi.device.secret import DeviceSecret
from geocorgi.device.settling import NO_DWELL, Settled, settle
from geocorgi.errors import BudgetSpent, InvalidInput
from geocorgi.tree import cells

FRESH, FREE, REPEATED = "fresh", "remembered", "repeated"
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Sent:
    """One line of the history: what was sent, to whom, when, and what it cost."""

    time: datetime
    recipient: str
    cell: str
    kind: str
    epsilon_per_km: float


class Drawn(NamedTuple):
    """A leaf (or, of an averaged matrix, a cell), and what its draw keeps."""

    leaf: str
    keeps: Keeps


class Ledger:
    """The memory, charges and history of one device, in one folder."""

    __slots__ = ("_clock", "_connection", "_secret")

    def __init__(self, folder: Path, clock: Clock = utc_now) -> None:
        """Open the folder's ledger; the first time, make it."""
        self._clock = clock
        self._connection, self._secret = open_ledger(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _where: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def report(self, real_leaf: str, draw: Callable[[], str], terms: Terms) -> Given:
        """Return the cell to hand out, remembered or freshly drawn, or raise BudgetSpent."""
        place = self._secret.name("place apart" if terms.apart else "place", real_leaf)
        with transaction(self._connection) as held:
            now = self._clock()
            before = balance(_charges(held), terms.budget, now, terms.epsilon_per_km)
            kind, known = _without_a_draw(held, place, terms, before)
            one = known or _drawn_now(held, now, place, Drawn(draw(), terms.keeps), terms)
            kind = kind if known else FRESH
            cell = _handed_out(one.leaf, terms.resolution)
            _write_down(held, now, (one, cell, kind), terms)
            after = balance(_charges(held), terms.budget, now, terms.epsilon_per_km)
        return Given(cell, kind == FRESH, kind == REPEATED, after, one.keeps)

    def balance(self, budget: Budget, next_epsilon_per_km: float) -> Balance:
        """Return how the budget stands, and whether one more draw at this epsilon fits."""
        return balance(self.charges(), budget, self._clock(), next_epsilon_per_km)

    def charges(self) -> tuple[Charge, ...]:
        """Return every fresh draw ever charged; erasing the history leaves them."""
        with named_refusals():
            return tuple(_charges(self._connection))

    def settle(self, near: Sequence[str], dwell: timedelta = NO_DWELL) -> str:
        """Return the leaf to report from: see :mod:`geocorgi.device.settling`."""
        with transaction(self._connection) as held:
            before = _settled(held, self._secret)
            after = settle(near, before, self._clock(), dwell)
            _keep_settled(held, self._secret, after)
        return after.leaf

    def history(self) -> tuple[Sent, ...]:
        """Return what was sent, to whom and when, the oldest first."""
        with named_refusals():
            rows = self._connection.execute(
                "SELECT time, recipient, cell, kind, epsilon_per_km FROM history ORDER BY rowid"
            )
            return tuple(Sent(_time(time), *rest) for time, *rest in rows)


def _charges(held: sqlite3.Connection) -> list[Charge]:
    rows = held.execute("SELECT time, epsilon_per_km FROM charges")
    return [Charge(_time(time), _number(epsilon)) for time, epsilon in rows]


def _drawn_now(
    held: sqlite3.Connection, now: datetime, place: bytes, one: Drawn, terms: Terms
) -> Drawn:
    """Charge a fresh draw, and remember it."""
    _charge(held, now, terms)
    if terms.remembered:
        held.execute(
            "REPLACE INTO memory SELECT ?, ?, 1 + coalesce(max(number), 0), ?, ?, ? "
            "FROM memory WHERE place = ?",
            [place, one.leaf, *_written(one.keeps), place],
        )
    return one


def _without_a_draw(
    held: sqlite3.Connection, place: bytes, terms: Terms, state: Balance
) -> tuple[str, Drawn | None]:
    """Return how it is answered, and with what, None where something has to be drawn."""
    if not state.fits:
        return REPEATED, _last_drawn(held, terms, state)
    return FREE, _remembered(held, place, terms)


def _remembered(held: sqlite3.Connection, place: bytes, terms: Terms) -> Drawn | None:
    """Return what was drawn last for the place, or before that, of what may be reported now.

    The older draws are charged as well. Were they forgotten, whoever decides what is removed could
    have a place drawn again as often as that changes. But none of them comes back for less than is
    asked for now: the user may have drawn anew because of that.
    """
    if terms.anew or not terms.remembered:
        return None
    rows = held.execute(
        "SELECT drawn, epsilon_per_km, area_resolution, rows FROM memory WHERE place = ? "
        "ORDER BY number DESC",
        [place],
    )
    for age, (drawn, *written) in enumerate(rows.fetchall()):
        keeps = _keeps(*written)
        if terms.allows(_cell(drawn)) and (age == 0 or keeps.at_least(terms.keeps)):
            return Drawn(drawn, keeps)
    return None


def _last_drawn(held: sqlite3.Connection, terms: Terms, state: Balance) -> Drawn:
    """Return what was drawn for the last report, if it may be repeated.

    What was drawn apart keeps no epsilon, and is repeated only where none is promised.
    """
    question = "SELECT last_drawn, last_per_km, last_area, last_rows FROM present"
    drawn, *written = held.execute(question).fetchone()
    promised = terms.apart or written[0] is not None
    repeats = terms.budget.at_ceiling is AtCeiling.REPEAT and drawn is not None and promised
    if not repeats or not terms.allows(_cell(drawn)):
        raise BudgetSpent(_refusal(state, terms.epsilon_per_km), state.frees_at)
    return Drawn(drawn, terms.keeps if written[0] is None else _keeps(*written))


def _refusal(state: Balance, epsilon_per_km: float) -> str:
    spent = f"{state.spent_per_km:g} of {state.budget.ceiling_per_km:g} per km is spent"
    if state.frees_at is None:
        return f"one report costs {epsilon_per_km:g} and {spent}: none ever fits; raise the ceiling"
    when = state.frees_at.isoformat(timespec="seconds")
    return f"the budget is at its ceiling ({spent}): every place is refused until {when}"


def _charge(held: sqlite3.Connection, now: datetime, terms: Terms) -> None:
    held.execute("INSERT INTO charges VALUES (?, ?)", [now.timestamp(), terms.epsilon_per_km])


def _handed_out(drawn: str, resolution: int) -> str:
    """Return the ancestor for the audience; a cell as coarse as that, or coarser, as it is."""
    return cells.ancestor(drawn, resolution) if cells.resolution_of(drawn) > resolution else drawn


def _write_down(
    held: sqlite3.Connection, now: datetime, sent: tuple[Drawn, str, str], terms: Terms
) -> None:
    one, cell, kind = sent
    cost = terms.epsilon_per_km if kind == FRESH else 0.0
    held.execute(
        "INSERT INTO history VALUES (?, ?, ?, ?, ?)",
        [now.timestamp(), terms.recipient, cell, kind, cost],
    )
    if kind != REPEATED:
        written = [None, None, None] if terms.apart else _written(one.keeps)
        held.execute(
            "UPDATE present SET last_drawn = ?, last_per_km = ?, last_area = ?, last_rows = ?",
            [one.leaf, *written],
        )


def _settled(held: sqlite3.Connection, secret: DeviceSecret) -> Settled | None:
    row = held.execute("SELECT settled, towards, since FROM present").fetchone()
    if row[0] is None:
        return None
    if not all(isinstance(part, bytes | None) for part in row[:2]):
        raise damaged("where the user settled is no bytes")
    leaf, towards = (part and secret.reveal("settled", part) for part in row[:2])
    return Settled(leaf, towards, None if row[2] is None else _time(row[2]))


def _keep_settled(held: sqlite3.Connection, secret: DeviceSecret, state: Settled) -> None:
    towards = state.towards and secret.hide("settled", state.towards)
    since = None if state.since is None else state.since.timestamp()
    held.execute(
        "UPDATE present SET settled = ?, towards = ?, since = ?",
        [secret.hide("settled", state.leaf), towards, since],
    )


def _written(keeps: Keeps) -> list[float | int | str]:
    return [keeps.epsilon_per_km, keeps.area_resolution, keeps.rows.value]


def _keeps(epsilon_per_km: object, area_resolution: Any, rows: Any) -> Keeps:
    try:
        return Keeps(_number(epsilon_per_km), area_resolution, rows)
    except (InvalidInput, ValueError):
        raise damaged("what a draw keeps is nothing that one can keep") from None


def _cell(written: object) -> str:
    if not (isinstance(written, str) and cells.is_cell(written)):
        raise damaged("what was drawn is no cell")
    return written


def _time(timestamp: object) -> datetime:
    try:
        return datetime.fromtimestamp(_number(timestamp), UTC)
    except (ValueError, OverflowError, OSError):
        raise damaged("a time is none") from None


def _number(value: object) -> float:
    if not isinstance(value, float) or not math.isfinite(value):
        raise damaged("a number is none")
    return value
