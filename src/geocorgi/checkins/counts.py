"""Which leaf of a location tree each check-in is in, and how many each leaf has.

Paper: §6.2, Priors. The leaf of a point is the H3 cell of the leaves' resolution that contains
it, never found by way of a coarser cell. Points that cannot be in any leaf are told by a box
first, because that is cheap; the box only ever lets through too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.checkins.defects import DefectReport
from geocorgi.checkins.leaf_box import LeafBox, box_around
from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.readers import Checkins
from geocorgi.errors import InvalidCell
from geocorgi.tree.cells import cells_at, require_cell, resolution_of


@dataclass(frozen=True, slots=True, eq=False)
class LeafCounts:
    """Check-ins a leaf, in the order of ``cells``; ``counts.sum() + outside == rows_good``."""

    cells: tuple[str, ...]
    counts: NDArray[np.int64]
    outside: int
    report: DefectReport


@dataclass(frozen=True, slots=True)
class Visits:
    """Who was in which leaf when: columns user, time, leaf, location, by user and then time."""

    frame: pl.DataFrame
    outside: int
    report: DefectReport


@dataclass(frozen=True, slots=True)
class _Leaves:
    places: dict[str, int]
    resolution: int
    box: LeafBox


def leaf_counts(checkins: Checkins, leaves: Sequence[str]) -> LeafCounts:
    """Count the check-ins in each leaf (of one or several trees) and outside of all of them."""
    known = _known(leaves)
    counts = np.zeros(len(known.places), dtype=np.int64)
    outside, report = 0, DefectReport(checkins.name)
    for batch in checkins.batches():
        nearby = _nearby(batch.frame, known.box)
        places = _places(nearby, known)
        inside = places[places >= 0]
        counts += np.bincount(inside, minlength=len(counts))
        outside += len(batch.frame) - len(inside)
        report += batch.report
    counts.setflags(write=False)
    return LeafCounts(tuple(known.places), counts, outside, report)


def visits(checkins: Checkins, leaves: Sequence[str]) -> Visits:
    """Gather every check-in inside the leaves with its leaf: what habits are learned from."""
    known = _known(leaves)
    cells = np.array(tuple(known.places))
    frames, outside, report = [], 0, DefectReport(checkins.name)
    for batch in checkins.batches():
        nearby = _nearby(batch.frame, known.box)
        places = _places(nearby, known)
        inside = nearby.filter(pl.Series(places >= 0, dtype=pl.Boolean))
        leaf = pl.Series("leaf", cells[places[places >= 0]].tolist(), pl.String)
        frames.append(inside.with_columns(leaf).select("user", "time", "leaf", "location"))
        outside += len(batch.frame) - len(inside)
        report += batch.report
    empty = pl.DataFrame(schema=_VISITS)
    return Visits(pl.concat([empty, *frames]).sort("user", "time"), outside, report)


_VISITS = pl.Schema(
    {
        "user": pl.String(),
        "time": pl.Datetime("us", "UTC"),
        "leaf": pl.String(),
        "location": pl.String(),
    }
)


def _known(leaves: Sequence[str]) -> _Leaves:
    cells = [require_cell(leaf) for leaf in leaves]
    places = {cell: place for place, cell in enumerate(cells)}
    resolutions = {resolution_of(cell) for cell in cells}
    if len(resolutions) != 1 or len(places) != len(cells):
        raise InvalidCell("leaves are one or more different cells, all of one resolution")
    return _Leaves(places, resolutions.pop(), box_around(cells))


def _nearby(frame: pl.DataFrame, box: LeafBox) -> pl.DataFrame:
    # The difference of two longitudes the short way round; -180 and 180 are one meridian.
    away = ((pl.col("longitude") - box.middle + 540.0) % 360.0 - 180.0).abs()
    return frame.filter(
        pl.col("latitude").is_between(box.south, box.north) & (away <= box.half_width)
    )


def _places(frame: pl.DataFrame, known: _Leaves) -> NDArray[np.int64]:
    """Return the position of each point's leaf, -1 for a point in none."""
    latitudes, longitudes = frame["latitude"].to_numpy(), frame["longitude"].to_numpy()
    cells = cells_at(latitudes, longitudes, known.resolution)
    return np.fromiter((known.places.get(cell, -1) for cell in cells), np.int64, len(cells))
