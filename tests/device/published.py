"""What a server has published, as a table of answers: the in-process twin of a file server."""

from __future__ import annotations

from collections.abc import Mapping

from geocorgi.device.network.exchange import Answer
from geocorgi.wire import addresses
from geocorgi.wire.build_progress import BuildProgress, State, encode_progress
from geocorgi.wire.canonical import digest
from geocorgi.wire.forest_pin import ForestPin, ForestPins, encode_pin, encode_pins
from geocorgi.wire.forest_request import ForestRequest, encode_request
from geocorgi.wire.map_codec import encode_map, map_id
from geocorgi.wire.map_index import MapIndex, encode_index, pin_of_map
from geocorgi.wire.public_map import PublicMap
from geocorgi.wire.refusal import Refusal, encode_refusal

BASE = "https://geo.example/"
NOT_THERE = Answer(404, encode_refusal(Refusal("nothing lies here")))


class Published:
    """Addresses and what lies there, and which of them were asked for."""

    def __init__(self, *maps: PublicMap) -> None:
        index = MapIndex(tuple(pin_of_map(public_map) for public_map in maps))
        self.files: dict[str, bytes] = {addresses.MAP_INDEX: encode_index(index)}
        for public_map in maps:
            self.files[addresses.map_address(map_id(public_map))] = encode_map(public_map)
        self.asked: list[str] = []
        self.first: dict[str, list[Answer]] = {}

    def __call__(self, url: str, most_bytes: int) -> Answer:
        path = url.removeprefix(BASE)
        self.asked.append(path)
        if self.first.get(path):
            return self.first[path].pop(0)
        content = self.files.get(path)
        if content is None:
            return NOT_THERE
        assert len(content) <= most_bytes
        return Answer(200, content)

    def publish(self, request: ForestRequest, forest: bytes) -> ForestPin:
        """Put a forest where it lies, beside its pin."""
        pin = ForestPin(request.map_id, request_id(request), digest(forest), len(forest))
        self.files[addresses.pin_address(pin.map_id, pin.request_id)] = encode_pin(pin)
        self.files[addresses.forest_address(pin.map_id, pin.request_id, pin.sha256)] = forest
        return pin

    def publish_pins(self, pins: Mapping[str, ForestPin]) -> str:
        """Put the pins of a whole catalogue where they lie; return their digest."""
        ordered = tuple(sorted(pins.values(), key=lambda pin: pin.request_id))
        content = encode_pins(ForestPins(ordered[0].map_id, ordered))
        self.files[addresses.pins_address(ordered[0].map_id)] = content
        return digest(content)


def request_id(request: ForestRequest) -> str:
    """Return a request's name."""
    return digest(encode_request(request))


def building(done: int, subtrees: int = 7, retry_after_seconds: int | None = None) -> Answer:
    """Return the answer for what is being built."""
    progress = BuildProgress(State.BUILDING, 0, done, subtrees)
    return Answer(202, encode_progress(progress), retry_after_seconds)
