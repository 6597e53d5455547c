"""One's own tracks in GPX: where somebody stayed, from points that come every second.

Waypoints with a time are visits. Of a track, a stay of ten minutes in a leaf is a visit, and every
further hour of it another one: leaves that were only passed through are no visits.

A document type is refused before it is read, so that no entity ever expands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.tree import cells

LARGEST_BYTES = 500_000_000
LONGEST_TIME = 100
STAY = timedelta(minutes=10)
AGAIN = timedelta(hours=1)
TRACK, WAYPOINT = "trkpt", "wpt"


class Stay(NamedTuple):
    """Somebody was in a leaf at a time, which has a zone."""

    leaf: str
    time: datetime


def read_gpx(path: Path, leaf_resolution: int) -> tuple[list[Stay], int]:
    """Return the stays that a GPX file tells of, and how many of its points cannot be read."""
    points = _Points(leaf_resolution)
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise BadFile(f"{path.name} is larger than {LARGEST_BYTES:,} bytes; split it")
        with path.open("rb") as file:
            points.parser().ParseFile(file)
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from None
    except expat.ExpatError as refusal:
        raise BadFile(f"{path.name}, line {refusal.lineno}: this is not XML") from None
    tracked = sorted(points.found[TRACK], key=lambda point: point.time)
    stays = [*points.found[WAYPOINT], *_stays(tracked)]
    return sorted(stays, key=lambda stay: stay.time), points.bad


def _stays(tracked: Iterable[Stay]) -> Iterator[Stay]:
    """Yield a visit for every stay that was long enough, and for every further hour of it."""
    for leaf, run in groupby(tracked, key=lambda point: point.leaf):
        times = [point.time for point in run]
        if times[-1] - times[0] < STAY:
            continue
        at = times[0]
        while at <= times[-1]:
            yield Stay(leaf, at)
            at += AGAIN


class _Points:
    """What the parser has met so far: handlers of expat, called as the file is read."""

    def __init__(self, leaf_resolution: int) -> None:
        self.found: dict[str, list[Stay]] = {TRACK: [], WAYPOINT: []}
        self.bad = 0
        self._resolution = leaf_resolution
        self._at: tuple[str, str] | None = None  # latitude and longitude, as written
        self._time = ""
        self._in_time = False

    def parser(self) -> expat.XMLParserType:
        """Return a parser that tells this."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._begin
        parser.CharacterDataHandler = self._content
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        return parser

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag in self.found:
            self._at = attributes.get("lat", ""), attributes.get("lon", "")
            self._time = ""
        self._in_time = tag == "time" and self._at is not None

    def _content(self, text: str) -> None:
        if self._in_time and len(self._time) < LONGEST_TIME:
            self._time += text

    def _end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        self._in_time = False
        if tag not in self.found or self._at is None:
            return
        try:
            latitude, longitude = map(float, self._at)
            time = datetime.fromisoformat(self._time.strip())
            leaf = cells.cell_at(latitude, longitude, self._resolution)
            self.found[tag].append(Stay(leaf, time if time.tzinfo else time.replace(tzinfo=UTC)))
        except (ValueError, InvalidInput):
            self.bad += 1
        self._at = None

    def _refuse(self, *_: object) -> None:
        raise BadFile("a GPX file with a document type is not read: remove its <!DOCTYPE>")
