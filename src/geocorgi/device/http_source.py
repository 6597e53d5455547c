"""Public maps and privacy forests from a server, a file server or the cache of either.

What is asked for depends on the map and the request alone (``docs/wire.md``). What comes is
believed when it has the digest that was known beforehand: shipped, or seen first and remembered.
What is in the cache is not asked for again. Nothing that is kept is ever sent back, except the
names by content that everybody uses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from geocorgi.device.acceptance import most_bytes
from geocorgi.device.content_cache import ContentCache
from geocorgi.device.network.address import ServerAddress
from geocorgi.device.network.exchange import Answer, Get
from geocorgi.device.network.retries import Patience
from geocorgi.errors import AnswerRefused, InvalidMessage, NotOffered, NotReady
from geocorgi.wire import addresses, build_progress, forest_pin, map_codec, map_index
from geocorgi.wire.build_progress import BuildProgress, decode_progress
from geocorgi.wire.canonical import digest
from geocorgi.wire.forest_pin import ForestPin, decode_pin, decode_pins
from geocorgi.wire.forest_request import ForestRequest, encode_request
from geocorgi.wire.map_index import MapIndex, MapPin, decode_index
from geocorgi.wire.refusal import decode_refusal

FOUND, BEING_BUILT, NOT_THERE, GONE = 200, 202, 404, 410
Progress = Callable[[BuildProgress], None]


@dataclass(frozen=True, slots=True)
class Shipped:
    """Digests that were known before anybody was asked; each may be None.

    With both, every byte that is ever believed is fixed beforehand.
    """

    map_id: str | None = None
    pins_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class HttpSource:
    """One server's maps and forests (:mod:`geocorgi.device.transport`)."""

    address: ServerAddress
    get: Get
    cache: ContentCache
    shipped: Shipped = Shipped()
    patience: Patience = field(default_factory=Patience)
    on_progress: Progress | None = None

    def index(self) -> MapIndex:
        """Return which maps the server says are current."""
        return decode_index(self._fetched(addresses.MAP_INDEX, map_index.MOST_BYTES))

    def remembered_map_id(self) -> str | None:
        """Return the name of the map in use: shipped, or seen first; None before that."""
        return self.shipped.map_id or self.cache.named(self._key("map"))

    def use_map(self, pin: MapPin) -> bytes:
        """Fetch a map of the index and use it from now on."""
        content = self._map(pin.map_id, pin.bytes)
        self.cache.name(self._key("map"), pin.map_id)
        return content

    def public_map(self) -> bytes:
        """Return the public map in use; where none is yet, the one that the server offers."""
        if map_id := self.remembered_map_id():
            return self._map(map_id, map_codec.MOST_BYTES)
        maps = self.index().maps
        if len(maps) > 1:
            raise AnswerRefused(
                f"the server offers {len(maps)} maps, one for each shard of its region, and which "
                "one is asked for tells it something: name one with --map-id, or fetch all of them "
                "with geocorgi sync"
            )
        return self.use_map(maps[0])

    def forest(self, request: ForestRequest) -> bytes:
        """Return the forest for a request; wait while the server builds it."""
        request_id = digest(encode_request(request))
        key = self._key(f"forest {request_id}")
        shipped = self._shipped_pin(request, request_id)
        known = shipped.sha256 if shipped else self.cache.named(key)
        if known and (content := self.cache.content(known)) is not None:
            return content
        pin = shipped or self._pin(request, request_id)
        if known and pin.sha256 != known:
            raise AnswerRefused(
                "the server has another forest for this request than the one it had first: it is "
                "not used; what is offered under a new map may be (geocorgi sync --new-map)"
            )
        self._require_possible(pin, request)
        self.cache.name(key, pin.sha256)
        where = addresses.forest_address(request.map_id, request_id, pin.sha256)
        return self._content(where, pin.bytes, pin.sha256)

    def _map(self, map_id: str, most_bytes: int) -> bytes:
        kept = self.cache.content(map_id)
        return kept or self._content(addresses.map_address(map_id), most_bytes, map_id)

    def _shipped_pin(self, request: ForestRequest, request_id: str) -> ForestPin | None:
        sha256 = self.shipped.pins_sha256
        if sha256 is None:
            return None
        content = self.cache.content(sha256) or self._content(
            addresses.pins_address(request.map_id), forest_pin.MOST_BYTES_OF_ALL, sha256
        )
        for pin in decode_pins(content).pins:
            if (pin.map_id, pin.request_id) == (request.map_id, request_id):
                return pin
        raise NotOffered("the forest asked for is none of those whose digests were shipped")

    def _pin(self, request: ForestRequest, request_id: str) -> ForestPin:
        where = addresses.pin_address(request.map_id, request_id)
        pin = decode_pin(self._fetched(where, forest_pin.MOST_BYTES))
        if (pin.map_id, pin.request_id) != (request.map_id, request_id):
            raise AnswerRefused("the server answers with the pin of another forest")
        return pin

    def _require_possible(self, pin: ForestPin, request: ForestRequest) -> None:
        """Refuse a forest that claims more bytes than the map's cells allow."""
        content = self.cache.content(request.map_id)
        if content and pin.bytes > most_bytes(map_codec.decode_map(content), request):
            raise AnswerRefused("the server's forest has more bytes than the map's cells allow")

    def _content(self, path: str, most_bytes: int, sha256: str) -> bytes:
        """Fetch content by its digest and keep it."""
        content = self._fetched(path, most_bytes)
        if digest(content) != sha256:
            raise AnswerRefused("what the server sends is not what its digest says: not used")
        self.cache.keep(content)
        return content

    def _fetched(self, path: str, most_bytes: int) -> bytes:
        """Return what lies there, once it does."""
        url, began = self.address.below(path), time.monotonic()
        turn = 0
        while True:
            answer = self.get(url, most_bytes)
            if answer.status != BEING_BUILT:
                return _found(answer)
            progress = decode_progress(answer.content)
            if self.on_progress:
                self.on_progress(progress)
            if time.monotonic() - began > self.patience.building_seconds:
                raise NotReady(f"the server is still at it: {said_of(progress)}; ask again later")
            self.patience.pause(turn, answer.retry_after_seconds)
            turn += 1

    def _key(self, what: str) -> str:
        return f"{self.address.base} {what}"


def said_of(progress: BuildProgress) -> str:
    """Return a few words on how far a forest is."""
    if progress.state is build_progress.State.QUEUED:
        return f"waiting behind {progress.ahead} others"
    return f"{progress.done} of {progress.subtrees} subtrees are built"


def _found(answer: Answer) -> bytes:
    if answer.status == FOUND:
        return answer.content
    if answer.status in {NOT_THERE, GONE}:
        raise NotOffered(f"the server does not have it{_reason(answer)}")
    raise AnswerRefused(f"the server answers with status {answer.status}{_reason(answer)}")


def _reason(answer: Answer) -> str:
    """Return the server's own words, if they are such as can be shown."""
    try:
        return f": '{decode_refusal(answer.content).reason}'"
    except InvalidMessage:
        return ""
