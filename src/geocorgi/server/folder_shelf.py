"""Published files in a local folder: any file server over it is a complete server."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.server.shelf import aside_for, parts_of

STALE_SECONDS = 3_600.0


class FolderShelf:
    """A local folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as refusal:
            raise BadFile(f"cannot use {folder.name} as a store: {refusal.strerror}") from refusal
        self._sweep()

    def read(self, address: str, most_bytes: int) -> bytes | None:
        """Return what lies there, None where nothing does; never more than a byte too many."""
        try:
            with self._path(address).open("rb") as file:
                return file.read(most_bytes + 1)
        except FileNotFoundError:
            return None
        except OSError as refusal:
            raise BadFile(f"cannot read {address}: {refusal.strerror}") from refusal

    def write(self, address: str, content: bytes) -> None:
        """Put it there, whole or not at all, in the place of what was."""
        path = self._path(address)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as refusal:
            raise BadFile(f"cannot write {address}: {refusal.strerror}") from refusal
        write_atomically(path, content)

    def set_aside(self, address: str) -> None:
        """Take away what is damaged, keeping it for whoever wants to know why."""
        aside = self._path(aside_for(address))
        try:
            aside.parent.mkdir(parents=True, exist_ok=True)
            self._path(address).replace(aside)
        except FileNotFoundError:
            return
        except OSError as refusal:
            raise BadFile(f"cannot set {address} aside: {refusal.strerror}") from refusal

    def _path(self, address: str) -> Path:
        return self.folder.joinpath(*parts_of(address))

    def _sweep(self) -> None:
        """Delete what writers that were killed an hour ago or earlier left behind."""
        for path in self.folder.rglob(".*.*"):
            with suppress(OSError):  # somebody else's, or gone already
                if path.is_file() and time.time() - path.stat().st_mtime > STALE_SECONDS:
                    path.unlink()
