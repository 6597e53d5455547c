"""One run at a time in a folder of work, whatever becomes of a run.

SQLite's own lock on a file of nothing: it is there on every platform, and it goes with the process
that holds it, killed or not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from geocorgi.errors import BadFile

FILE = "running"


@contextmanager
def alone_in(folder: Path, name: str) -> Iterator[None]:
    """Hold the folder, or refuse because another run holds it; ``name`` is what it writes."""
    try:
        with closing(sqlite3.connect(folder / FILE, timeout=0, isolation_level=None)) as held:
            held.execute("PRAGMA journal_mode = OFF")  # nothing is written: no second file
            held.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.OperationalError as refusal:
        raise BadFile(
            f"another run is writing {name}, or its folder cannot be written ({refusal}): wait "
            "for it, or name another file"
        ) from None
