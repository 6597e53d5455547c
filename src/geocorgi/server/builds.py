"""Building what was asked for and is not there: each forest once, one after the other."""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from geocorgi.errors import BadFile, GeocorgiError, WorkerLost
from geocorgi.files import write_atomically
from geocorgi.server import build_queue
from geocorgi.server.build_process import Task, run_build
from geocorgi.server.metrics import Metrics
from geocorgi.server.store import Store
from geocorgi.server.words import said
from geocorgi.wire.build_progress import BuildProgress, State
from geocorgi.wire.forest_pin import ForestPin
from geocorgi.wire.forest_request import ForestRequest, request_id
from geocorgi.wire.map_codec import encode_map
from geocorgi.wire.map_codec import map_id as name_of
from geocorgi.wire.public_map import PublicMap

MOST_LOSSES = 3
SECONDS_OF_TROUBLE = 60.0
log = logging.getLogger("geocorgi.server")
Built = Callable[[ForestPin], None]
"""Called, in the event loop, with the pin of every forest that was built."""


@dataclass(slots=True)
class _Build:
    request: ForestRequest
    subtrees: int
    done: int = 0
    written: asyncio.Future[None] | None = None  # into the queue's folder


class Builds:
    """The queue and whoever works it off; ``state`` is a folder of this service's own."""

    def __init__(self, store: Store, state: Path, metrics: Metrics, on_built: Built) -> None:
        self._store, self._state, self._metrics, self._on_built = store, state, metrics, on_built
        self._maps: dict[str, PublicMap] = {}
        self._queue: dict[str, _Build] = {}
        self._failed: dict[str, str] = {}
        self._troubled: dict[str, float] = {}
        self._something = asyncio.Event()

    def prepare(self, maps: list[PublicMap]) -> None:
        """Take up what an earlier run left waiting, as far as it is still offered."""
        (self._state / "maps").mkdir(parents=True, exist_ok=True)
        self._maps = {name_of(one): one for one in maps}
        for map_id, one in self._maps.items():
            write_atomically(self._map_file(map_id), encode_map(one))
        for request in build_queue.waiting(self._queue_folder):
            offered = self._maps.get(request.map_id)
            published = self._store.pin(request.map_id, request_id(request))
            if offered is None or request.entry not in offered.catalogue or published:
                build_queue.remove(self._queue_folder, request)
            else:
                self._enqueue(request)

    async def want(self, request: ForestRequest) -> BuildProgress:
        """Return how far the forest is; asked for the first time it is queued.

        What the machine had no room for is tried again, but not at once.
        """
        name = request_id(request)
        if name not in self._queue:
            if time.monotonic() - self._troubled.get(name, -math.inf) < SECONDS_OF_TROUBLE:
                raise BadFile("a forest could not be written and is tried again later")
            self._enqueue(request)
            write = asyncio.to_thread(build_queue.add, self._queue_folder, request)
            self._queue[name].written = asyncio.ensure_future(write)
        build, progress = self._queue[name], self._progress(name)
        if build.written is not None:  # whoever goes away takes nobody's place in the queue along
            await asyncio.shield(build.written)
        return progress

    def failure(self, name: str) -> str | None:
        """Return why a forest could not be built, None where that is not known."""
        return self._failed.get(name)

    async def work(self) -> None:
        """Work off the queue until cancelled."""
        while True:
            while self._queue:
                await self._work_on(next(iter(self._queue.values())))
            self._something.clear()
            await self._something.wait()

    async def _work_on(self, build: _Build) -> None:
        name, start = request_id(build.request), time.monotonic()
        try:
            pin = await self._built(build)
        except (BadFile, OSError) as trouble:
            self._troubled[name] = time.monotonic()
            self._not_built(build, trouble)
        except GeocorgiError as refusal:
            self._failed[name] = str(refusal)
            self._not_built(build, refusal)
        else:
            seconds = time.monotonic() - start
            self._metrics.built(seconds)
            log.info("built in %.1f s: %s", seconds, said(build.request))
            self._on_built(pin)
        await self._leave_queue(build)

    def _not_built(self, build: _Build, why: Exception) -> None:
        self._metrics.failed()
        log.warning("not built: %s: %s", said(build.request), why)

    async def _leave_queue(self, build: _Build) -> None:
        try:
            if build.written is not None:
                await build.written
            await asyncio.to_thread(build_queue.remove, self._queue_folder, build.request)
        except (GeocorgiError, OSError) as refusal:
            log.warning("the queue cannot be kept: %s", refusal)
        self._queue.pop(request_id(build.request))
        self._metrics.waiting(len(self._queue))

    async def _built(self, build: _Build) -> ForestPin:
        name = request_id(build.request)
        out = self._state / f"{name}.safetensors"
        work_folder = self._state / "work" / name
        task = Task(build.request, self._map_file(build.request.map_id), work_folder, out)
        for attempt in range(1, MOST_LOSSES + 1):
            try:
                await run_build(task, lambda done: setattr(build, "done", done))
                break
            except WorkerLost:
                if attempt == MOST_LOSSES:
                    raise
                log.warning("a build was lost and is tried again: %s", said(build.request))
        return await asyncio.to_thread(self._publish, build.request, out, work_folder)

    def _publish(self, request: ForestRequest, out: Path, work_folder: Path) -> ForestPin:
        before = self._store.pin(request.map_id, request_id(request))
        pin = self._store.publish_forest(request, out.read_bytes())
        if before is not None and before != pin:
            log.warning("a pin has changed, publish a new map: %s", said(request))
        out.unlink()
        shutil.rmtree(work_folder, ignore_errors=True)
        self._store.publish_pins(self._maps[request.map_id])
        return pin

    def _enqueue(self, request: ForestRequest) -> None:
        subtrees = len(self._maps[request.map_id].subtrees(request.privacy_level))
        self._queue[request_id(request)] = _Build(request, subtrees)
        self._metrics.waiting(len(self._queue))
        self._something.set()

    def _progress(self, name: str) -> BuildProgress:
        ahead, build = list(self._queue).index(name), self._queue[name]
        state = State.QUEUED if ahead else State.BUILDING
        return BuildProgress(state, ahead, build.done, build.subtrees)

    def _map_file(self, map_id: str) -> Path:
        return self._state / "maps" / f"{map_id}.json"

    @property
    def _queue_folder(self) -> Path:
        return self._state / "queue"
