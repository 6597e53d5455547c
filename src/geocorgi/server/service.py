"""What the server answers, without HTTP: which map, which pin, which forest.

Only what the current maps' catalogues offer is ever built; for anything else nothing starts.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from geocorgi.errors import InvalidInput
from geocorgi.server.answer import BINARY, JSON, Answer, file, later, message, progress, refusal
from geocorgi.server.at_hand import AtHand
from geocorgi.server.builds import Builds
from geocorgi.server.metrics import Metrics
from geocorgi.server.store import Store
from geocorgi.wire import addresses
from geocorgi.wire.forest_pin import ForestPin, encode_pin, encode_pins
from geocorgi.wire.forest_request import ForestRequest, request_for, request_id
from geocorgi.wire.map_index import encode_index

ANY_MAP = "/v1/maps/{map_id}"
ANY_FOREST = f"{ANY_MAP}/forests/{{request_id}}"
INDEX, MAP, PINS = "/v1/map", f"{ANY_MAP}/map.json", f"{ANY_MAP}/pins.json"
PIN, FOREST = f"{ANY_FOREST}/pin.json", f"{ANY_FOREST}/{{sha256}}.safetensors"
RETRY_SECONDS = 2
LONGEST_RETRY_SECONDS = 60
NOT_OFFERED = "the catalogue of the current map does not offer that"
NOT_THERE = "there is no such file"
AGAIN = "this forest was damaged and is built again"


class Service:
    """The current maps, the published forests, and the builds of those that are missing."""

    def __init__(self, store: Store, state: Path) -> None:
        self.metrics = Metrics()
        self.ready = False
        self._store = store
        self._builds = Builds(store, state, self.metrics, self._built)
        self._requests: dict[str, ForestRequest] = {}
        self.at_hand = AtHand()
        self._working: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to build what was left waiting."""
        if not self._requests:
            await asyncio.to_thread(self.prepare)
        self._working = asyncio.create_task(self._builds.work())
        self.ready = True

    async def stop(self) -> None:
        """End the build that runs: what is finished of it is kept."""
        self.ready = False
        if self._working is not None:
            self._working.cancel()
            with suppress(asyncio.CancelledError):
                await self._working

    def prepare(self) -> None:
        """Read what is published, or refuse to serve it."""
        index = self._store.index()
        if index is None:
            raise InvalidInput("the store has no map: name one, geocorgi-server serve --map")
        found = [self._store.public_map(pin.map_id) for pin in index.maps]
        maps = [one for one in found if one is not None]
        if len(maps) != len(found):
            raise InvalidInput("a map of the store is damaged: publish it again, --map")
        for pin, one in zip(index.maps, maps, strict=True):
            requests = (request_for(pin.map_id, entry) for entry in one.catalogue)
            self._requests |= {request_id(request): request for request in requests}
        self.at_hand.keep(addresses.MAP_INDEX, message(encode_index(index), INDEX))
        self._builds.prepare(maps)

    async def map_index(self) -> Answer:
        """Answer which maps are current."""
        return self.at_hand.get(addresses.MAP_INDEX) or later("starting", RETRY_SECONDS)

    async def map_file(self, map_id: str) -> Answer:
        """Answer with a map."""
        found = await asyncio.to_thread(self._store.map_file, map_id)
        if found is None:
            return refusal(404, NOT_THERE)
        return self.at_hand.keep(addresses.map_address(map_id), file(found, map_id, JSON, MAP))

    async def pins(self, map_id: str) -> Answer:
        """Answer with the pins of a map's whole catalogue."""
        found = await asyncio.to_thread(self._store.pins, map_id)
        return refusal(404, NOT_THERE) if found is None else message(encode_pins(found), PINS)

    async def pin(self, map_id: str, name: str) -> Answer:
        """Answer with the pin of a forest; one that is offered and not there is built."""
        found = await asyncio.to_thread(self._store.pin, map_id, name)
        if found is not None:
            return self._pinned(found)
        return await self._wanted(map_id, name)

    async def forest(self, map_id: str, name: str, sha256: str) -> Answer:
        """Answer with a forest."""
        pin = await asyncio.to_thread(self._store.pin, map_id, name)
        if pin is None or pin.sha256 != sha256:
            return refusal(404, NOT_THERE)
        found = await asyncio.to_thread(self._store.forest, pin)
        if found is None:
            self.at_hand.forget(addresses.pin_address(map_id, name))
            again = await self._wanted(map_id, name)
            return later(AGAIN, RETRY_SECONDS) if again.status == 202 else again
        address = addresses.forest_address(map_id, name, sha256)
        return self.at_hand.keep(address, file(found, sha256, BINARY, FOREST))

    async def _wanted(self, map_id: str, name: str) -> Answer:
        request = self._requests.get(name)
        if request is None or request.map_id != map_id:
            return refusal(404, NOT_OFFERED)
        if self._builds.failure(name) is not None:
            return refusal(500, "this forest could not be built; asking again starts nothing")
        state = await self._builds.want(request)
        return progress(state, min(RETRY_SECONDS * (1 + state.ahead), LONGEST_RETRY_SECONDS))

    def _built(self, pin: ForestPin) -> None:
        self._pinned(pin)

    def _pinned(self, pin: ForestPin) -> Answer:
        address = addresses.pin_address(pin.map_id, pin.request_id)
        return self.at_hand.keep(address, message(encode_pin(pin), PIN))
