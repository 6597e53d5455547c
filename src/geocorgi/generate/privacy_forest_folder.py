"""What is finished stays finished: the results of tasks in a folder, each under its key.

A file is named by its task's key and by the digest of its content; it is written whole or not at
all. A file that is not what its name says is passed over, and the task runs again.
"""

from __future__ import annotations

from pathlib import Path

from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.matrix.forest_file import LARGEST_FILE_BYTES
from geocorgi.wire.canonical import digest


def kept(folder: Path, key: str) -> bytes | None:
    """Return the result kept under the key, None if there is none that is whole."""
    for path in sorted(folder.glob(f"{key}.*.safetensors")):
        try:
            content = path.read_bytes() if path.stat().st_size <= LARGEST_FILE_BYTES else b""
        except OSError:
            continue
        if path.name == _name(key, content):
            return content
    return None


def keep(folder: Path, key: str, content: bytes) -> None:
    """Keep a result under its key."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refusal:
        raise BadFile(f"cannot write to {folder.name}: {refusal.strerror}") from refusal
    write_atomically(folder / _name(key, content), content)


def _name(key: str, content: bytes) -> str:
    return f"{key}.{digest(content)}.safetensors"
