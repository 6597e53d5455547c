"""What a server offers: a finite list, part of the public map.

A request is for one entry of it and nothing else, so that nobody can make a server solve at will
and users differ in nothing but the entry they choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geocorgi.errors import InvalidMessage
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.prunable import Rows
from geocorgi.wire import canonical

MOST_LEVELS = 15
MOST_DELTA = 5_000
NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
LONGEST_NAME = 40

ENTRY_FIELDS = {
    "delta": canonical.is_whole,
    "epsilon_per_km": canonical.is_real,
    "filter": canonical.is_text_or_none,
    "privacy_level": canonical.is_whole,
    "rows": canonical.is_text,
}


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One forest on offer; ``filter`` is a name of the map's, or None where every cell passes."""

    privacy_level: int
    filter: str | None
    delta: int
    rows: Rows
    epsilon_per_km: float

    def __post_init__(self) -> None:
        """Refuse what no server could mean."""
        if not (canonical.is_whole(self.privacy_level) and 0 < self.privacy_level <= MOST_LEVELS):
            raise InvalidMessage(f"a privacy level is a whole number from 1 to {MOST_LEVELS}")
        if self.filter is not None:
            require_name(self.filter, "filter")
        if not (canonical.is_whole(self.delta) and 0 <= self.delta <= MOST_DELTA):
            raise InvalidMessage(f"delta is a whole number from 0 to {MOST_DELTA:,}")
        object.__setattr__(self, "rows", require_rows(self.rows))
        object.__setattr__(self, "epsilon_per_km", require_epsilon(self.epsilon_per_km))

    @property
    def sort_key(self) -> tuple[int, str, float, str, int]:
        """The order of a catalogue."""
        return (
            self.privacy_level, self.filter or "", self.epsilon_per_km, self.rows.value, self.delta,
        )  # fmt: skip


def entry_fields(entry: CatalogueEntry) -> dict[str, Any]:
    """Return the entry as JSON has it."""
    return {
        "delta": entry.delta,
        "epsilon_per_km": entry.epsilon_per_km,
        "filter": entry.filter,
        "privacy_level": entry.privacy_level,
        "rows": entry.rows.value,
    }


def entry_of(fields: Mapping[str, Any], what: str) -> CatalogueEntry:
    """Return the entry that JSON has, or refuse it."""
    found = canonical.require_fields(fields, ENTRY_FIELDS, what)
    return CatalogueEntry(**found)


def require_rows(rows: str) -> Rows:
    """Return the mode, or refuse it."""
    try:
        return Rows(rows)
    except ValueError:
        raise InvalidMessage("rows is 'keep' or 'drop'") from None


def require_name(name: str, what: str) -> str:
    """Return a name that is safe in addresses, file names and logs, or refuse it."""
    if not (
        isinstance(name, str)
        and 0 < len(name) <= LONGEST_NAME
        and name[0].isalpha()
        and set(name) <= NAME_LETTERS
    ):
        raise InvalidMessage(
            f"a {what}'s name is 1 to {LONGEST_NAME} of a-z, 0-9, _ and -, beginning with a letter"
        )
    return name
