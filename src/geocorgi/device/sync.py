"""Fetching a whole catalogue once, so that later reports contact nobody.

Everybody who does this asks for the same things in the same order. A forest that is not published
yet is left for later; one that is refused is named and the others go on: the verdict on one
depends on its bytes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geocorgi.device.transport import ForestSource
from geocorgi.errors import AnswerRefused, ForestRefused, InvalidMessage, NotOffered
from geocorgi.wire.canonical import digest
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_pin import ForestPin, ForestPins, encode_pins
from geocorgi.wire.forest_request import ForestRequest, encode_request, request_for

Judge = Callable[[bytes, ForestRequest], object]
OnDone = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Synced:
    """What is at hand of one map's catalogue.

    ``pins_sha256`` is the digest of the pins of all that was asked for, None where some of it is
    lacking. Over a whole catalogue it is the same for everyone who was sent the same bytes.
    """

    map_id: str
    entries: int
    forests: int
    bytes: int
    not_offered: int
    refused: tuple[str, ...]
    pins_sha256: str | None


def sync(
    source: ForestSource,
    map_id: str,
    entries: Sequence[CatalogueEntry],
    judge: Judge,
    on_done: OnDone | None = None,
) -> Synced:
    """Fetch the forest of every entry and judge it."""
    pins: list[ForestPin] = []
    refused: list[str] = []
    not_offered = 0
    for done, entry in enumerate(entries, start=1):
        request = request_for(map_id, entry)
        try:
            content = source.forest(request)
            judge(content, request)
        except NotOffered:
            not_offered += 1
        except (AnswerRefused, ForestRefused, InvalidMessage) as refusal:
            refused.append(f"{said_of(entry)}: {refusal}")
        else:
            pins.append(_pin(content, request))
        if on_done:
            on_done(done, len(entries))
    return Synced(
        map_id=map_id,
        entries=len(entries),
        forests=len(pins),
        bytes=sum(pin.bytes for pin in pins),
        not_offered=not_offered,
        refused=tuple(refused),
        pins_sha256=_pins_digest(map_id, pins) if len(pins) == len(entries) else None,
    )


def said_of(entry: CatalogueEntry) -> str:
    """Return an entry in a few words."""
    only = f", {entry.filter} only" if entry.filter else ""
    return (
        f"level {entry.privacy_level}, delta {entry.delta}, rows {entry.rows.value}, "
        f"{entry.epsilon_per_km:g} per km{only}"
    )


def _pin(content: bytes, request: ForestRequest) -> ForestPin:
    name = digest(encode_request(request))
    return ForestPin(request.map_id, name, digest(content), len(content))


def _pins_digest(map_id: str, pins: Sequence[ForestPin]) -> str | None:
    if not pins:
        return None
    ordered = tuple(sorted(pins, key=lambda pin: pin.request_id))
    return digest(encode_pins(ForestPins(map_id, ordered)))
