"""The ledger's file: SQLite, for its owner alone, whole from its first moment on.

A new ledger is made under another name and then given its own, so that a crash leaves none or a
whole one, and two processes that begin at once share one. WAL with full synchronisation: what is
committed is on the disk. ``secure_delete`` overwrites what is deleted.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from geocorgi.device.secret import DeviceSecret, device_secret, has_secret, link_new
from geocorgi.errors import BadFile

FILE = "ledger.sqlite"
VERSION = 3
SECONDS_TO_WAIT = 30.0

# No table holds a place by name: ``place`` is an HMAC under the secret, ``settled`` and
# ``towards`` are hidden by it.
TABLES = """
CREATE TABLE memory (
    place BLOB NOT NULL, drawn TEXT NOT NULL, number INTEGER NOT NULL, epsilon_per_km REAL NOT NULL,
    area_resolution INTEGER NOT NULL, rows TEXT NOT NULL, PRIMARY KEY (place, drawn)
) WITHOUT ROWID;
CREATE TABLE charges (time REAL NOT NULL, epsilon_per_km REAL NOT NULL);
CREATE TABLE history (
    time REAL NOT NULL, recipient TEXT NOT NULL, cell TEXT NOT NULL, kind TEXT NOT NULL,
    epsilon_per_km REAL NOT NULL
);
CREATE TABLE present (
    one INTEGER PRIMARY KEY CHECK (one = 1), last_drawn TEXT, last_per_km REAL, last_area INTEGER,
    last_rows TEXT, settled BLOB, towards BLOB, since REAL
);
INSERT INTO present (one) VALUES (1);
"""
WITNESS = "CREATE TABLE witness (of_secret BLOB NOT NULL);"


def open_ledger(folder: Path, tables: str = TABLES) -> tuple[sqlite3.Connection, DeviceSecret]:
    """Return a connection to the folder's ledger, made if need be, and the secret that fits."""
    path = folder / FILE
    if path.exists() and not has_secret(folder):
        raise BadFile(_lost("is missing"))
    secret = device_secret(folder)
    if not path.exists():
        _make(path, secret, tables)
    connection = connect(path)
    try:
        _require_own(connection, secret)
    except BaseException:
        connection.close()
        raise
    return connection, secret


def _require_own(connection: sqlite3.Connection, secret: DeviceSecret) -> None:
    with named_refusals():
        (of_secret,) = connection.execute("SELECT of_secret FROM witness").fetchone() or (None,)
    if not isinstance(of_secret, bytes):
        raise damaged("it does not say whose it is")
    if not hmac.compare_digest(of_secret, witness_of(secret)):
        raise BadFile(_lost("belongs to another one"))


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a ledger that is there."""
    with named_refusals():
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None)
        try:
            _prepare(connection)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except BaseException:
            connection.close()
            raise
    if version != VERSION:
        connection.close()
        raise BadFile(f"{path.name} is a ledger of version {version}, not {VERSION}: update")
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Hold the ledger alone; all of it is on the disk afterwards, or nothing has happened."""
    with named_refusals():
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@contextlib.contextmanager
def named_refusals() -> Iterator[None]:
    """Turn what SQLite refuses into one sentence."""
    try:
        yield
    except sqlite3.OperationalError as refusal:
        raise BadFile(
            f"{FILE} cannot be used now ({refusal}): another process may hold it, or the disk be "
            "full; try again"
        ) from None
    except sqlite3.DatabaseError as damage:
        raise damaged(str(damage)) from None
    except OSError as refusal:
        raise BadFile(f"{FILE} cannot be used: {refusal.strerror}") from None
    except UnicodeDecodeError:  # SQLite quotes what it cannot read
        raise damaged("it holds bytes that are no text") from None


def damaged(how: str) -> BadFile:
    """Return the refusal of a ledger that does not hold what a ledger holds."""
    return BadFile(
        f"{FILE} is damaged ({how}): restore it from a backup, or move it away, which forgets what "
        "was spent and draws old places again"
    )


def witness_of(secret: DeviceSecret) -> bytes:
    """Return what the ledger keeps to know its secret again."""
    return secret.name("witness")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA trusted_schema = OFF")


def _make(path: Path, secret: DeviceSecret, tables: str) -> None:
    with named_refusals(), tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder) / path.name
        os.close(os.open(whole, os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(whole, isolation_level=None)
        try:
            _prepare(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            version = f"PRAGMA user_version = {VERSION};"
            connection.executescript(f"BEGIN; {tables} {WITNESS} {version} COMMIT;")
            connection.execute("INSERT INTO witness VALUES (?)", [witness_of(secret)])
        finally:
            connection.close()  # the last one to close brings everything into the one file
        link_new(whole, path)


def _lost(what: str) -> str:
    return (
        f"the ledger's secret {what}, and without it old places would be drawn again: restore "
        "secret.key; of your own reports, 'geocorgi history --erase' forgets them and keeps the "
        "charges"
    )
