"""Published files in an object store: the only door to obstore."""

from __future__ import annotations

from typing import Any

from geocorgi.errors import BadFile, InvalidInput, MissingExtra
from geocorgi.server.shelf import aside_for, parts_of

try:
    import obstore
    from obstore.exceptions import BaseError
    from obstore.store import from_url
except ModuleNotFoundError as missing:
    if missing.name != "obstore":
        raise
    raise MissingExtra("an object store needs obstore: pip install 'geocorgi[server]'") from missing


class ObjectShelf:
    """An object store by URL: s3://, gs://, az://, file://, memory://; puts are atomic there."""

    def __init__(self, url: str) -> None:
        try:
            self._store: Any = from_url(url)
        except (BaseError, ValueError) as refusal:
            raise InvalidInput(
                "a store is a folder, or a URL such as s3://bucket/prefix"
            ) from refusal

    def read(self, address: str, most_bytes: int) -> bytes | None:
        """Return what lies there, None where nothing does; never more than a byte too many."""
        try:
            found = obstore.get(self._store, "/".join(parts_of(address)))
            if found.meta["size"] > most_bytes:
                path = found.meta["path"]
                return bytes(obstore.get_range(self._store, path, start=0, length=most_bytes + 1))
            return bytes(found.bytes())
        except FileNotFoundError:
            return None
        except BaseError as refusal:
            raise BadFile(f"cannot read {address}: {type(refusal).__name__}") from refusal

    def write(self, address: str, content: bytes) -> None:
        """Put it there, whole or not at all, in the place of what was."""
        try:
            obstore.put(self._store, "/".join(parts_of(address)), content)
        except BaseError as refusal:
            raise BadFile(f"cannot write {address}: {type(refusal).__name__}") from refusal

    def set_aside(self, address: str) -> None:
        """Take away what is damaged, keeping it for whoever wants to know why."""
        try:
            obstore.rename(self._store, "/".join(parts_of(address)), aside_for(address))
        except FileNotFoundError:
            return
        except BaseError as refusal:
            raise BadFile(f"cannot set {address} aside: {type(refusal).__name__}") from refusal
