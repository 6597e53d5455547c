"""A question over the network and its answer, as values: the port, whoever stands behind it.

:mod:`geocorgi.device.network.door` asks for real; a function with a table in it does for a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from geocorgi.errors import Unreachable


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: nothing of it is believed, and of its headers only one is looked at."""

    status: int
    content: bytes
    retry_after_seconds: int | None = None


class Get(Protocol):
    """Asks for what lies at an address and takes at most so many bytes of it."""

    def __call__(self, url: str, most_bytes: int, /) -> Answer:
        """Return the answer, whatever its status, or raise FetchFailed."""


def not_asked(_url: str, _most_bytes: int) -> Answer:
    """Ask nobody: what is not in the cache is not there."""
    raise Unreachable("it was not fetched before, and offline nobody is asked for it")
