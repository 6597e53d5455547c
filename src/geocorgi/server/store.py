"""What is published: maps, forests and their pins, verified whenever they are read.

A forest is written before its pin, and a map before the index that names it: a crash at any moment
leaves only what is whole. What is read and is not what its name says is set aside and counts as
not there, so that it is built again. Beside each file lies the same compressed (``docs/wire.md``).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from geocorgi.errors import BadFile, InvalidMessage
from geocorgi.server.folder_shelf import FolderShelf
from geocorgi.server.shelf import Shelf
from geocorgi.wire import forest_pin, map_codec, map_index
from geocorgi.wire.addresses import (
    MAP_INDEX,
    forest_address,
    map_address,
    pin_address,
    pins_address,
)
from geocorgi.wire.canonical import digest
from geocorgi.wire.forest_pin import ForestPin, ForestPins
from geocorgi.wire.forest_request import ForestRequest, request_for, request_id
from geocorgi.wire.map_index import MapIndex, pin_of_map
from geocorgi.wire.public_map import PublicMap

GZIP_LEVEL = 6
LONGEST_GZIP_OVERHEAD = 1_000_000
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Published:
    """The same bytes twice: as they are, and compressed."""

    content: bytes
    compressed: bytes


class Store:
    """A shelf with the published files in their places."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def publish_maps(self, maps: list[PublicMap]) -> MapIndex:
        """Publish the maps and make them the current ones."""
        in_order = sorted(maps, key=lambda public_map: public_map.roots[0])
        index = MapIndex(tuple(pin_of_map(public_map) for public_map in in_order))
        for public_map, pin in zip(in_order, index.maps, strict=True):
            if self.map_file(pin.map_id) is None:
                self._write(map_address(pin.map_id), map_codec.encode_map(public_map))
        if self._decoded(MAP_INDEX, map_index.MOST_BYTES, map_index.decode_index) != index:
            self._write(MAP_INDEX, map_index.encode_index(index))
        return index

    def index(self) -> MapIndex | None:
        """Return which maps are current, None if none were published.

        A damaged index stays where it is: set aside, it would look like a store that is new.
        """
        content = self._shelf.read(MAP_INDEX, map_index.MOST_BYTES)
        try:
            return None if content is None else map_index.decode_index(content)
        except InvalidMessage as refusal:
            raise BadFile(
                "the store's index is damaged: publish its maps again, --map for each"
            ) from refusal

    def public_map(self, map_id: str) -> PublicMap | None:
        """Return a published map."""
        found = self.map_file(map_id)
        return None if found is None else map_codec.decode_map(found.content)

    def map_file(self, map_id: str) -> Published | None:
        """Return the bytes of a published map."""
        return self._named(map_address(map_id), map_id, map_codec.MOST_BYTES)

    def publish_forest(self, request: ForestRequest, content: bytes) -> ForestPin:
        """Publish a forest, and then its pin."""
        name = request_id(request)
        pin = ForestPin(request.map_id, name, digest(content), len(content))
        address = forest_address(pin.map_id, name, pin.sha256)
        if self._named(address, pin.sha256, pin.bytes) is None:
            self._write(address, content)
        if self.pin(request.map_id, name) != pin:
            self._write(pin_address(request.map_id, name), forest_pin.encode_pin(pin))
        return pin

    def pin(self, map_id: str, name: str) -> ForestPin | None:
        """Return the pin of a published forest."""
        address = pin_address(map_id, name)
        found = self._decoded(address, forest_pin.MOST_BYTES, forest_pin.decode_pin)
        if found is not None and (found.map_id, found.request_id) != (map_id, name):
            self._shelf.set_aside(address)
            return None
        return found

    def forest(self, pin: ForestPin) -> Published | None:
        """Return a published forest; one that is damaged is set aside, and its pin with it."""
        address = forest_address(pin.map_id, pin.request_id, pin.sha256)
        found = self._named(address, pin.sha256, pin.bytes)
        if found is None:
            self._shelf.set_aside(pin_address(pin.map_id, pin.request_id))
        return found

    def publish_pins(self, public_map: PublicMap) -> ForestPins | None:
        """Publish the pins of the whole catalogue if every forest of it is published."""
        map_id = map_codec.map_id(public_map)
        names = sorted(request_id(request_for(map_id, one)) for one in public_map.catalogue)
        found = [self.pin(map_id, name) for name in names]
        whole = tuple(pin for pin in found if pin is not None)
        if len(whole) < len(names):
            return None
        pins = ForestPins(map_id, whole)
        if self.pins(map_id) != pins:
            self._write(pins_address(map_id), forest_pin.encode_pins(pins))
        return pins

    def pins(self, map_id: str) -> ForestPins | None:
        """Return the pins of a map's whole catalogue, None until all of it is published."""
        return self._decoded(
            pins_address(map_id), forest_pin.MOST_BYTES_OF_ALL, forest_pin.decode_pins
        )

    def _write(self, address: str, content: bytes) -> None:
        compressed = gzip.compress(content, compresslevel=GZIP_LEVEL, mtime=0)
        self._shelf.write(f"{address}.gz", compressed)
        self._shelf.write(address, content)

    def _named(self, address: str, sha256: str, most_bytes: int) -> Published | None:
        """Return what lies there if it is what its name says; else set it aside."""
        content = self._shelf.read(address, most_bytes)
        if content is None:
            return None
        if digest(content) != sha256:
            self._shelf.set_aside(address)
            return None
        return Published(content, self._compressed(address, content))

    def _compressed(self, address: str, content: bytes) -> bytes:
        """Return the compressed sibling, made anew where it is not there or not the same."""
        found = self._shelf.read(f"{address}.gz", len(content) + LONGEST_GZIP_OVERHEAD)
        if found is not None and _unpacks_to(found, content):
            return found
        compressed = gzip.compress(content, compresslevel=GZIP_LEVEL, mtime=0)
        with suppress(BadFile):  # a store that only can be read is served all the same
            self._shelf.write(f"{address}.gz", compressed)
        return compressed

    def _decoded(
        self, address: str, most_bytes: int, decode: Callable[[bytes], Read]
    ) -> Read | None:
        content = self._shelf.read(address, most_bytes)
        if content is None:
            return None
        try:
            return decode(content)
        except InvalidMessage:
            self._shelf.set_aside(address)
            return None


def open_store(where: str) -> Store:
    """Return the store at a folder or URL."""
    if "://" not in where:
        return Store(FolderShelf(Path(where)))
    from geocorgi.server.object_shelf import ObjectShelf  # noqa: PLC0415 - only where asked for

    return Store(ObjectShelf(where))


def _unpacks_to(compressed: bytes, content: bytes) -> bool:
    """Return whether the gzip bytes hold exactly this; never more of them is unpacked."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(compressed, len(content) + 1) == content and unpacker.eof
    except zlib.error:
        return False
