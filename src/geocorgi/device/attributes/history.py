"""The user's own history: from a file of hers to visits by leaf and local time, on the device only.

GPX, SNAP (``.txt``, ``.tsv``), CSV and Parquet, the text files plain or gzip. A file with the
visits of several people needs to be told whose are meant. Nothing is kept but what is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from geocorgi.checkins.blocks import blocks_of
from geocorgi.checkins.columns import parquet_names
from geocorgi.checkins.layouts import Columns
from geocorgi.checkins.readers import Checkins, read_csv, read_parquet, read_snap
from geocorgi.device.attributes.gpx import read_gpx
from geocorgi.device.attributes.habits import Visit
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.tree import cells
from geocorgi.tree.time_zone import local_time


@dataclass(frozen=True, slots=True)
class History:
    """Visits, and how many rows of the file could not be read; the visits are in no repr."""

    visits: tuple[Visit, ...] = field(repr=False)
    rows: int
    bad_rows: int


def read_history(path: Path, leaf_resolution: int, user: str | None = None) -> History:
    """Return the visits of one person in a file."""
    kind = Path(path.name.removesuffix(".gz")).suffix.lower()
    if kind == ".gpx":
        stays, bad = read_gpx(path, leaf_resolution)
        visits = tuple(Visit(leaf, local_time(leaf, time)) for leaf, time in stays)
        return History(visits, len(stays) + bad, bad)
    readers = {".csv": _csv, ".parquet": _parquet, ".txt": read_snap, ".tsv": read_snap}
    if kind not in readers:
        raise BadFile(f"{path.name}: a history is .gpx, .csv, .parquet, or .txt in SNAP's layout")
    return _visits(readers[kind](path), leaf_resolution, user)


def _visits(checkins: Checkins, leaf_resolution: int, user: str | None) -> History:
    visits: list[Visit] = []
    seen: set[str | None] = set()
    rows = bad = 0
    for batch in checkins.batches():
        rows, bad = rows + batch.report.rows_in, bad + batch.report.rows_bad
        frame = batch.frame
        seen.update(frame["user"].unique().to_list())
        _require_one(seen, user)
        if user is not None and None not in seen:
            frame = frame.filter(frame["user"] == user)
        latitudes, longitudes = frame["latitude"].to_numpy(), frame["longitude"].to_numpy()
        leaves = cells.cells_at(latitudes, longitudes, leaf_resolution)
        times = frame["time"].to_list()
        visits += (
            Visit(leaf, local_time(leaf, time)) for leaf, time in zip(leaves, times, strict=True)
        )
    if user is not None and user not in seen and None not in seen:
        raise InvalidInput("the history has no visits of that user")
    return History(tuple(visits), rows, bad)


def _require_one(seen: set[str | None], user: str | None) -> None:
    if user is None and len(seen) > 1:
        raise InvalidInput("the history holds several people's visits: name yours with --user")


def _csv(path: Path) -> Checkins:
    first = next(blocks_of(path), None)
    header = first.lines[0].decode("utf-8", "replace") if first and first.lines else ""
    return read_csv(path, _columns({name.strip('"\r ') for name in header.split(",")}))


def _parquet(path: Path) -> Checkins:
    return read_parquet(path, _columns(parquet_names(path)))


def _columns(names: set[str]) -> Columns:
    """Return the columns of a history: a file of one's own need not say whose it is, or what."""
    return Columns(
        user="user" if "user" in names else None,
        location="location" if "location" in names else None,
    )
