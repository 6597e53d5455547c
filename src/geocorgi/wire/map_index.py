"""Which public maps are current: one, or one for each shard of a region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geocorgi.errors import InvalidInput, InvalidMessage
from geocorgi.tree import cells
from geocorgi.wire import canonical
from geocorgi.wire.forest_request import require_digest
from geocorgi.wire.map_codec import MOST_BYTES as MOST_MAP_BYTES
from geocorgi.wire.map_codec import encode_map
from geocorgi.wire.public_map import PublicMap

FORMAT = "geocorgi map index 1"
MOST_BYTES = 4_000_000
MOST_MAPS = 5_000
FIELDS = {"format": canonical.is_text, "maps": canonical.is_list}
MAP_FIELDS = {
    "bytes": canonical.is_whole,
    "map_id": canonical.is_text,
    "roots": canonical.is_list,
}


@dataclass(frozen=True, slots=True)
class MapPin:
    """One current map: its length, its name by content, and where it is about."""

    map_id: str
    bytes: int
    roots: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what can pin no map."""
        require_digest(self.map_id, "map_id")
        if not (canonical.is_whole(self.bytes) and 0 < self.bytes <= MOST_MAP_BYTES):
            raise InvalidMessage(f"a map has 1 to {MOST_MAP_BYTES:,} bytes")
        roots = tuple(cells.require_cell(root) for root in self.roots)
        if not roots or list(roots) != sorted(set(roots)):
            raise InvalidMessage("a map in the index has one or more roots, ascending, each once")
        object.__setattr__(self, "roots", roots)


@dataclass(frozen=True, slots=True)
class MapIndex:
    """The current maps, in the order of their roots; no root is in two of them."""

    maps: tuple[MapPin, ...]

    def __post_init__(self) -> None:
        """Refuse what leaves open which map a root has."""
        if not 0 < len(self.maps) <= MOST_MAPS:
            raise InvalidMessage(f"an index has 1 to {MOST_MAPS:,} maps")
        firsts = [pin.roots[0] for pin in self.maps]
        roots = [root for pin in self.maps for root in pin.roots]
        if firsts != sorted(firsts) or len(set(roots)) != len(roots):
            raise InvalidMessage("an index has its maps in the order of their roots, each once")


def pin_of_map(public_map: PublicMap) -> MapPin:
    """Return what the index says of a map."""
    content = encode_map(public_map)
    return MapPin(canonical.digest(content), len(content), public_map.roots)


def encode_index(index: MapIndex) -> bytes:
    """Return the one sequence of bytes that stands for the index."""
    maps = [
        {"bytes": pin.bytes, "map_id": pin.map_id, "roots": list(pin.roots)} for pin in index.maps
    ]
    return canonical.encoded({"format": FORMAT, "maps": maps})


def decode_index(content: bytes) -> MapIndex:
    """Return the index in the bytes, or refuse them."""
    fields = canonical.message(content, MOST_BYTES, FORMAT, FIELDS)
    if len(fields["maps"]) > MOST_MAPS:
        raise InvalidMessage(f"an index has 1 to {MOST_MAPS:,} maps")
    try:
        index = MapIndex(tuple(_pin(found) for found in fields["maps"]))
    except InvalidMessage:
        raise
    except InvalidInput as refusal:
        raise InvalidMessage(f"a map index: {refusal}") from refusal
    return canonical.require_same(index, encode_index(index), content, "a map index")


def _pin(fields: Any) -> MapPin:
    found = canonical.require_fields(fields, MAP_FIELDS, "a map in the index")
    if not all(isinstance(root, str) for root in found["roots"]):
        raise InvalidMessage("a map in the index: 'roots' is not a list of texts")
    return MapPin(found["map_id"], found["bytes"], tuple(found["roots"]))
