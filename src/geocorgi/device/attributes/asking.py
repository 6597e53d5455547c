"""An attribute from an address: asked for the whole map, in bounded time and size, kept a while.

The question is the policy's address with the map's own names in it; it does not depend on where
the user is (tests/device/attributes/test_asking.py records what leaves). What was answered is used
again until its time to live is over. Who does not answer in time leaves the values unknown, and the
preference says what becomes of such cells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from geocorgi.device.attributes.gridding import values_over
from geocorgi.device.attributes.table import rows_of
from geocorgi.device.attributes.values import AttributeValues
from geocorgi.device.network.exchange import Get
from geocorgi.device.sources import Source
from geocorgi.errors import BadFile, FetchFailed
from geocorgi.files import write_atomically
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap

LARGEST_BYTES = 20_000_000
OK = 200
Connect = Callable[[Source], AbstractContextManager[Get]]


@dataclass(frozen=True, slots=True)
class Asker:
    """How addresses are asked: through what, kept where, by which clock."""

    connect: Connect
    kept: Path
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def asked(variable: str, source: Source, public_map: PublicMap, asker: Asker) -> AttributeValues:
    """Return what the address says of the map's leaves, unknown where it says nothing."""
    url = question(source, public_map)
    leaves = public_map.leaves
    path = asker.kept / f"{_name(url, variable, source)}.json"
    if (remembered := _remembered(path, source, asker.now())) is not None:
        return remembered
    try:
        with asker.connect(source) as get:
            answer = get(url, LARGEST_BYTES)
        if answer.status != OK:
            return _unknown(source, f"its source answers with status {answer.status}")
        rows = rows_of(answer.content, source.column or variable, "the answer of its source")
        values = values_over(rows, source, leaves)
    except (FetchFailed, BadFile) as failure:
        return _unknown(source, str(failure))
    _remember(path, values, asker.now())
    return values


def question(source: Source, public_map: PublicMap) -> str:
    """Return the address to ask: the same for everyone with this policy and this map."""
    roots = (source.subtree,) if source.subtree else public_map.roots
    return (
        str(source.url)
        .replace("{roots}", ",".join(roots))
        .replace("{resolution}", str(public_map.leaf_resolution))
        .replace("{map_id}", map_id(public_map))
    )


def _remembered(path: Path, source: Source, now: datetime) -> AttributeValues | None:
    """Return what was answered lately; what is damaged or of the future is asked for again."""
    try:
        found: Any = json.loads(path.read_bytes())
        fetched = datetime.fromisoformat(found["fetched"])
        if not timedelta(0) <= now - fetched < source.time_to_live:
            return None
        return AttributeValues(source.kind, found["values"], found["trouble"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def _remember(path: Path, known: AttributeValues, now: datetime) -> None:
    fields = {
        "fetched": now.isoformat(),
        "trouble": known.trouble,
        "values": dict(known.values),
    }
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, json.dumps(fields).encode("ascii"), private=True)


def _name(url: str, variable: str, source: Source) -> str:
    said = json.dumps([url, source.column or variable, source.kind, source.unit])
    return hashlib.sha256(said.encode()).hexdigest()


def _unknown(source: Source, trouble: str) -> AttributeValues:
    return AttributeValues(source.kind, {}, trouble)
