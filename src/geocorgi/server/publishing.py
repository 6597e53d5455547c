"""Which maps a store is about: those given, those published before, or the made-up city."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from geocorgi.errors import BadFile
from geocorgi.server.bundled_map import bundled_map
from geocorgi.server.store import Store
from geocorgi.wire.map_codec import read_map
from geocorgi.wire.public_map import PublicMap


def published_maps(store: Store, map_files: Sequence[Path]) -> list[PublicMap]:
    """Publish the maps in the files, if there are any; return the current ones."""
    if map_files:
        given = [read_map(path) for path in map_files]
        store.publish_maps(given)
        return given
    index = store.index()
    if index is None:
        bundled = bundled_map()
        store.publish_maps([bundled])
        return [bundled]
    found = [store.public_map(pin.map_id) for pin in index.maps]
    if any(one is None for one in found):
        raise BadFile("a map of the store was damaged and is set aside: publish it again, --map")
    return [one for one in found if one is not None]
