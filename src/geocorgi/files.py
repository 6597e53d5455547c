"""The door to writing files: whole or not at all.

The bytes go to a temporary file beside the target, reach the disk, and only then take the
target's name. A crash at any moment leaves the old file or the new one, never a part.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from geocorgi.errors import BadFile


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write the content under the name ``path``, replacing what has it.

    A private file is its owner's alone (mode 0600), from the first byte on.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if not private:  # what mkstemp makes is private
                Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
            _sync_folder(path.parent)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as refusal:
        raise BadFile(f"cannot write {path.name}: {refusal.strerror}") from refusal


def _sync_folder(folder: Path) -> None:
    """Let the new name itself reach the disk, where a folder can be synchronised at all."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """Return the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def reached_disk(path: Path) -> None:
    """Wait until what was written there is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def publish(finished: Path, path: Path) -> None:
    """Give a finished file its name, replacing what has it; the name reaches the disk as well."""
    try:
        reached_disk(finished)
        finished.replace(path)
        _sync_folder(path.parent)
    except OSError as refusal:
        raise BadFile(f"cannot write {path.name}: {refusal.strerror}") from refusal
