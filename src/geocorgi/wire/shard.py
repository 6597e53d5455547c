"""A map of a part of a region, and what asking for that part alone tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geocorgi.errors import InvalidMessage
from geocorgi.tree import cells
from geocorgi.wire import canonical

MOST_ROOTS = 5_000
LONGEST_SENTENCE = 500
FIELDS = {"reveals": canonical.is_text, "roots_of_region": canonical.is_list}


@dataclass(frozen=True, slots=True)
class Shard:
    """The roots of the whole region, ascending, and one sentence for whoever chooses the part."""

    roots_of_region: tuple[str, ...]
    reveals: str

    def __post_init__(self) -> None:
        """Refuse a region that is none and a sentence that could do more than be read."""
        if not 1 < len(self.roots_of_region) <= MOST_ROOTS:
            raise InvalidMessage(f"a region in shards has 2 to {MOST_ROOTS:,} roots")
        roots = tuple(cells.require_cell(root) for root in self.roots_of_region)
        if list(roots) != sorted(set(roots)):
            raise InvalidMessage("a region's roots are ascending, each once")
        object.__setattr__(self, "roots_of_region", roots)
        reveals = self.reveals
        if not (
            0 < len(reveals) <= LONGEST_SENTENCE and reveals.isascii() and reveals.isprintable()
        ):
            raise InvalidMessage(
                f"what a shard reveals is 1 to {LONGEST_SENTENCE} printable letters"
            )


def shard_of(roots_of_region: tuple[str, ...]) -> Shard:
    """Return what every map of the region says when each of its roots has one."""
    return Shard(
        roots_of_region,
        "This map is one of a region in parts. Fetching it, or its forests, without the others "
        "tells the server, and whoever sees the connection, which of the region's "
        f"{len(roots_of_region)} roots matters to you. Fetching all parts tells nothing.",
    )


def shard_fields(shard: Shard | None) -> dict[str, Any] | None:
    """Return the shard as JSON has it."""
    if shard is None:
        return None
    return {"reveals": shard.reveals, "roots_of_region": list(shard.roots_of_region)}


def shard_from(fields: Any) -> Shard | None:
    """Return the shard that JSON has, or refuse it."""
    if fields is None:
        return None
    found = canonical.require_fields(fields, FIELDS, "the map's shard")
    roots = found["roots_of_region"]
    if len(roots) > MOST_ROOTS or not all(isinstance(root, str) for root in roots):
        raise InvalidMessage(f"a region in shards has 2 to {MOST_ROOTS:,} roots")
    return Shard(tuple(roots), found["reveals"])
