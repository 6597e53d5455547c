"""All that a user ever tells a server: which forest of the catalogue.

A function of the user's policy and the public map alone, never of where the user is (ADR 11).
No other field exists; a golden test pins the bytes.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any

from geocorgi.errors import InvalidMessage
from geocorgi.matrix.prunable import Rows
from geocorgi.wire import canonical
from geocorgi.wire.catalogue import ENTRY_FIELDS, CatalogueEntry, entry_fields

FORMAT = "geocorgi forest request 1"
MOST_BYTES = 1_000
HEXADECIMAL = frozenset(string.hexdigits.lower())
FIELDS = ENTRY_FIELDS | {"format": canonical.is_text, "map_id": canonical.is_text}


@dataclass(frozen=True, slots=True)
class ForestRequest:
    """One entry of one map's catalogue (Paper: §5.2, step 4, with δ as in ADR 11)."""

    map_id: str
    privacy_level: int
    filter: str | None
    delta: int
    rows: Rows
    epsilon_per_km: float

    def __post_init__(self) -> None:
        """Refuse what no catalogue could hold."""
        require_digest(self.map_id, "map_id")
        entry = self.entry
        object.__setattr__(self, "rows", entry.rows)
        object.__setattr__(self, "epsilon_per_km", entry.epsilon_per_km)

    @property
    def entry(self) -> CatalogueEntry:
        """The entry of the catalogue that is asked for."""
        return CatalogueEntry(
            self.privacy_level, self.filter, self.delta, self.rows, self.epsilon_per_km
        )


def request_for(map_id: str, entry: CatalogueEntry) -> ForestRequest:
    """Return the request for an entry of the map's catalogue."""
    return ForestRequest(
        map_id, entry.privacy_level, entry.filter, entry.delta, entry.rows, entry.epsilon_per_km
    )


def request_fields(request: ForestRequest) -> dict[str, Any]:
    """Return the request as JSON has it."""
    return entry_fields(request.entry) | {"format": FORMAT, "map_id": request.map_id}


def encode_request(request: ForestRequest) -> bytes:
    """Return the one sequence of bytes that stands for the request."""
    return canonical.encoded(request_fields(request))


def request_id(request: ForestRequest) -> str:
    """Return the request's name, under which its answer lies: the SHA-256 of its bytes."""
    return canonical.digest(encode_request(request))


def decode_request(content: bytes) -> ForestRequest:
    """Return the request in the bytes, or refuse them."""
    found = dict(canonical.message(content, MOST_BYTES, FORMAT, FIELDS))
    del found["format"]
    return ForestRequest(**found)


def require_digest(text: str, what: str) -> str:
    """Return a name by content, or refuse it."""
    if not (isinstance(text, str) and len(text) == 64 and set(text) <= HEXADECIMAL):
        raise InvalidMessage(f"{what} is 64 hexadecimal digits in lower case")
    return text
