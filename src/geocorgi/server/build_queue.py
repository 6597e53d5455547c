"""Which forests are still to be built, in the order they were asked for: files in a folder.

A restart goes on where it was. What is asked for holds nothing of who asked.
"""

from __future__ import annotations

from pathlib import Path

from geocorgi.errors import BadFile, InvalidMessage
from geocorgi.files import write_atomically
from geocorgi.wire.forest_request import (
    MOST_BYTES,
    ForestRequest,
    decode_request,
    encode_request,
    request_id,
)


def add(folder: Path, request: ForestRequest) -> None:
    """Put a request at the end."""
    paths = _paths(folder)
    number = 1 + int(paths[-1].name.partition("-")[0]) if paths else 1
    write_atomically(folder / f"{number:012d}-{request_id(request)}.json", encode_request(request))


def remove(folder: Path, request: ForestRequest) -> None:
    """Take a request away, wherever it stands."""
    for path in folder.glob(f"*-{request_id(request)}.json"):
        path.unlink(missing_ok=True)


def waiting(folder: Path) -> list[ForestRequest]:
    """Return the requests in order; a file that holds none is deleted."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refusal:
        raise BadFile(f"cannot keep a queue in {folder.name}: {refusal.strerror}") from refusal
    found: dict[str, ForestRequest] = {}
    for path in _paths(folder):
        try:
            request = decode_request(_begin_of(path))
        except InvalidMessage:
            path.unlink(missing_ok=True)
            continue
        found.setdefault(request_id(request), request)
    return list(found.values())


def _begin_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as refusal:
        raise BadFile(f"cannot read the queue's {path.name}: {refusal.strerror}") from refusal


def _paths(folder: Path) -> list[Path]:
    files = (path for path in folder.glob("*-*.json") if path.is_file())
    return sorted(path for path in files if path.name[:12].isdecimal())
