"""Filling a store with a whole catalogue: what is there is verified, what is missing is built."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from geocorgi.errors import GenerationFailed
from geocorgi.generate.privacy_forest import SubtreeDone, privacy_forest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.server.store import Store
from geocorgi.wire.forest_pin import ForestPin
from geocorgi.wire.forest_request import ForestRequest, request_for, request_id
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap


@dataclass(frozen=True, slots=True)
class EntryDone:
    """One more entry is finished: its pin, or why there is none, and how long that took.

    It is ``reused`` if it was there already.
    """

    request: ForestRequest
    done: int
    entries: int
    pin: ForestPin | None
    failure: str = ""
    reused: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Means:
    """What runs the subtrees (None: this machine's cores) and where finished ones are kept."""

    work_folder: Path
    executor: Executor | None = None
    on_subtree: Callable[[SubtreeDone], None] | None = None


def precompute(store: Store, public_map: PublicMap, means: Means) -> Iterator[EntryDone]:
    """Publish every forest of the map's catalogue, quick ones first; yield each as it is there.

    A forest that cannot be built does not keep the others back. At the end, if all are there, their
    pins are published together.
    """
    name = map_id(public_map)
    entries = sorted(
        public_map.catalogue, key=lambda one: (one.privacy_level, one.delta, one.rows.value)
    )
    for done, entry in enumerate(entries, start=1):
        request, began = request_for(name, entry), time.monotonic()
        found = _entry(store, public_map, request, means, (done, len(entries)))
        yield replace(found, seconds=time.monotonic() - began)
    store.publish_pins(public_map)


def _entry(
    store: Store, public_map: PublicMap, request: ForestRequest, means: Means, of: tuple[int, int]
) -> EntryDone:
    there = store.pin(request.map_id, request_id(request))
    if there is not None and store.forest(there) is not None:
        return EntryDone(request, *of, there, reused=True)
    folder = means.work_folder / request_id(request)
    try:
        forest = privacy_forest(
            public_map,
            request,
            executor=means.executor,
            work_folder=folder,
            on_progress=means.on_subtree,
        )
    except GenerationFailed as refusal:
        return EntryDone(request, *of, None, str(refusal))
    pin = store.publish_forest(request, forest_bytes(forest))
    shutil.rmtree(folder, ignore_errors=True)
    return EntryDone(request, *of, pin)
