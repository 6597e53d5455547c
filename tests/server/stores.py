"""A small city's map, its two forests, and stores that hold them."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from geocorgi.generate.privacy_forest import privacy_forest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.server.store import Store, open_store
from geocorgi.wire.addresses import forest_address, pin_address
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_pin import ForestPin
from geocorgi.wire.forest_request import ForestRequest, request_for, request_id
from geocorgi.wire.map_codec import map_id
from tests.wire.maps import small_map

ENTRIES = tuple(CatalogueEntry(1, None, 0, Rows.KEEP, epsilon) for epsilon in (5.0, 15.0))
CITY = replace(small_map(filters={}, catalogue=()), catalogue=ENTRIES)
ID = map_id(CITY)
REQUESTS = [request_for(ID, entry) for entry in ENTRIES]
NAMES = [request_id(request) for request in REQUESTS]
PINS = [pin_address(ID, name) for name in NAMES]


@functools.cache
def forest(request: ForestRequest) -> bytes:
    """Return the forest, generated once a session, with no service."""
    with ThreadPoolExecutor(1) as thread:
        return forest_bytes(privacy_forest(CITY, request, executor=thread))


def fill(where: Path | str) -> Store:
    """Fill a store with the map and both forests."""
    store = open_store(str(where))
    store.publish_maps([CITY])
    for request in REQUESTS:
        store.publish_forest(request, forest(request))
    store.publish_pins(CITY)
    return store


def file_of(pin: ForestPin) -> str:
    """Return where the forest of a pin lies."""
    return forest_address(pin.map_id, pin.request_id, pin.sha256)
