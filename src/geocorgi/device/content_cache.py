"""What was fetched once is not asked for again: files named by their content, and names for them.

``content/{sha256}`` holds bytes, checked against their name whenever they are read; ``names/``
holds which content an address had, as a digest. Everything is written whole or not at all, so a
crash leaves a file or none, and a file that is not what its name says is thrown away. The oldest
content goes when there is too much of it; names are small and stay.

Nothing here depends on where the user is, but it shows which policy she has: the folder is hers
alone (mode 0700).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from geocorgi.errors import BadFile
from geocorgi.files import write_atomically

VARIABLE = "GEOCORGI_CACHE"
MOST_BYTES = 2_000_000_000
DIGEST_LETTERS = 64


def usual_folder() -> Path:
    """Return where a device keeps what it fetched: what ``GEOCORGI_CACHE`` names, or usual."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return platformdirs.user_cache_path("geocorgi", appauthor=False)


@dataclass(frozen=True, slots=True)
class ContentCache:
    """A folder of fetched content, of at most so many bytes."""

    folder: Path
    most_bytes: int = MOST_BYTES

    def content(self, sha256: str) -> bytes | None:
        """Return the content of this name, None where it is not or is damaged."""
        path = self._content_folder / sha256
        try:
            if path.stat().st_size > self.most_bytes:
                return None
            found = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(found).hexdigest() == sha256:
            return found
        path.unlink(missing_ok=True)
        return None

    def keep(self, content: bytes) -> str:
        """Keep content, at the cost of the oldest where there is too much; return its name."""
        sha256 = hashlib.sha256(content).hexdigest()
        if len(content) <= self.most_bytes:
            write_atomically(self._made(self._content_folder) / sha256, content, private=True)
            self._make_room(sha256)
        return sha256

    def forget(self, sha256: str) -> None:
        """Throw content away."""
        (self._content_folder / sha256).unlink(missing_ok=True)

    def named(self, name: str) -> str | None:
        """Return the digest that was kept under a name, None where none was."""
        try:
            found = self._name_path(name).read_bytes()[: DIGEST_LETTERS + 1].decode("ascii")
        except (OSError, UnicodeDecodeError):
            return None
        return found if len(found) == DIGEST_LETTERS and found.isalnum() else None

    def name(self, name: str, sha256: str) -> None:
        """Keep a digest under a name."""
        path = self._name_path(name)
        self._made(path.parent)
        write_atomically(path, sha256.encode("ascii"), private=True)

    @property
    def _content_folder(self) -> Path:
        return self.folder / "content"

    def _name_path(self, name: str) -> Path:
        """Return a path that no name can lead astray."""
        return self.folder / "names" / hashlib.sha256(name.encode()).hexdigest()

    def _made(self, folder: Path) -> Path:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as refusal:
            raise BadFile(
                f"cannot keep what is fetched in {folder.name}: {refusal.strerror}"
            ) from refusal
        return folder

    def _make_room(self, newest: str) -> None:
        kept = sorted(self._kept(), reverse=True)
        total = 0
        for _when, size, path in kept:
            total += size
            if total > self.most_bytes and path.name != newest:
                path.unlink(missing_ok=True)

    def _kept(self) -> Iterator[tuple[int, int, Path]]:
        for path in self._content_folder.iterdir():
            with suppress(OSError):  # another process made room meanwhile
                about = path.stat()
                yield about.st_mtime_ns, about.st_size, path
