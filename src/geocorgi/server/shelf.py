"""Where published files lie: bytes under addresses, in a local folder or an object store.

Writing is whole or not at all. What is damaged is set aside, never deleted.
"""

from __future__ import annotations

import time
from typing import Protocol

from geocorgi.errors import InvalidInput


class Shelf(Protocol):
    """Bytes under addresses such as ``v1/map``."""

    def read(self, address: str, most_bytes: int) -> bytes | None:
        """Return what lies there, None where nothing does; never more than a byte too many.

        What is too large is read as too large, and no further.
        """

    def write(self, address: str, content: bytes) -> None:
        """Put it there, whole or not at all, in the place of what was."""

    def set_aside(self, address: str) -> None:
        """Take away what is damaged, keeping it for whoever wants to know why."""


def aside_for(address: str) -> str:
    """Return where what is damaged is kept."""
    return f"aside/{time.time_ns()}-{address.replace('/', '-')}"


def parts_of(address: str) -> list[str]:
    """Return the parts of an address, none of which leads out of the shelf."""
    parts = address.split("/")
    if any(part in {"", ".", ".."} or not set(part).isdisjoint("\\:\0") for part in parts):
        raise InvalidInput("an address is names between slashes, none of them dots")
    return parts
