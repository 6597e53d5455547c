"""What a forest's bytes are, said beforehand: length and SHA-256, the same for everyone.

The digest of the pins of a whole catalogue fixes every byte that a device will ever accept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geocorgi.errors import InvalidMessage
from geocorgi.matrix.forest_file import LARGEST_FILE_BYTES
from geocorgi.wire import canonical
from geocorgi.wire.forest_request import require_digest
from geocorgi.wire.public_map import MOST_ENTRIES

FORMAT = "geocorgi forest pin 1"
FORMAT_OF_ALL = "geocorgi forest pins 1"
MOST_BYTES = 1_000
MOST_BYTES_OF_ALL = 4_000_000
PIN_FIELDS = {
    "bytes": canonical.is_whole,
    "request_id": canonical.is_text,
    "sha256": canonical.is_text,
}
FIELDS = PIN_FIELDS | {"format": canonical.is_text, "map_id": canonical.is_text}
FIELDS_OF_ALL = {
    "format": canonical.is_text,
    "map_id": canonical.is_text,
    "pins": canonical.is_list,
}


@dataclass(frozen=True, slots=True)
class ForestPin:
    """One published forest."""

    map_id: str
    request_id: str
    sha256: str
    bytes: int

    def __post_init__(self) -> None:
        """Refuse what can pin no forest."""
        for name in ("map_id", "request_id", "sha256"):
            require_digest(getattr(self, name), name)
        if not (canonical.is_whole(self.bytes) and 0 < self.bytes <= LARGEST_FILE_BYTES):
            raise InvalidMessage(f"a forest has 1 to {LARGEST_FILE_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class ForestPins:
    """The published forests of a map, in the order of their requests' names."""

    map_id: str
    pins: tuple[ForestPin, ...]

    def __post_init__(self) -> None:
        """Refuse what belongs to several maps or names a request twice."""
        require_digest(self.map_id, "map_id")
        names = [pin.request_id for pin in self.pins]
        if not 0 < len(names) <= MOST_ENTRIES or names != sorted(set(names)):
            raise InvalidMessage(f"pins are 1 to {MOST_ENTRIES:,}, ascending, each request once")
        if any(pin.map_id != self.map_id for pin in self.pins):
            raise InvalidMessage("all pins of a map are of that map")


def encode_pin(pin: ForestPin) -> bytes:
    """Return the one sequence of bytes that stands for the pin."""
    return canonical.encoded(_fields(pin) | {"format": FORMAT, "map_id": pin.map_id})


def decode_pin(content: bytes) -> ForestPin:
    """Return the pin in the bytes, or refuse them."""
    found = dict(canonical.message(content, MOST_BYTES, FORMAT, FIELDS))
    del found["format"]
    return ForestPin(**found)


def encode_pins(pins: ForestPins) -> bytes:
    """Return the one sequence of bytes that stands for the pins of a map."""
    rows = [_fields(pin) for pin in pins.pins]
    return canonical.encoded({"format": FORMAT_OF_ALL, "map_id": pins.map_id, "pins": rows})


def decode_pins(content: bytes) -> ForestPins:
    """Return the pins in the bytes, or refuse them."""
    found = canonical.message(content, MOST_BYTES_OF_ALL, FORMAT_OF_ALL, FIELDS_OF_ALL)
    if len(found["pins"]) > MOST_ENTRIES:
        raise InvalidMessage(f"pins are 1 to {MOST_ENTRIES:,}")
    rows = [canonical.require_fields(row, PIN_FIELDS, "a forest's pin") for row in found["pins"]]
    return ForestPins(found["map_id"], tuple(ForestPin(found["map_id"], **row) for row in rows))


def _fields(pin: ForestPin) -> dict[str, Any]:
    return {"bytes": pin.bytes, "request_id": pin.request_id, "sha256": pin.sha256}
