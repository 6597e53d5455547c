"""How many check-ins each leaf of a location tree has (Paper: §6.2, Priors)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.checkins.defects import DefectReport
from geocorgi.checkins.leaf_places import OUTSIDE, leaf_places
from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.readers import Checkins


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


def leaf_counts(checkins: Checkins, leaves: Sequence[str]) -> LeafCounts:
    """Count the check-ins in each leaf (of one or several trees) and outside of all of them."""
    known = leaf_places(leaves)
    counts = np.zeros(len(known.positions), dtype=np.int64)
    outside, report = 0, DefectReport(checkins.name)
    for batch in checkins.batches():
        places = known.of(batch.frame)
        inside = places[places != OUTSIDE]
        counts += np.bincount(inside, minlength=len(counts))
        outside += len(batch.frame) - len(inside)
        report += batch.report
    counts.setflags(write=False)
    return LeafCounts(tuple(known.positions), counts, outside, report)


def visits(checkins: Checkins, leaves: Sequence[str]) -> Visits:
    """Gather every check-in inside the leaves with its leaf: what habits are learned from."""
    known = leaf_places(leaves)
    cells = np.array(tuple(known.positions))
    frames, outside, report = [], 0, DefectReport(checkins.name)
    for batch in checkins.batches():
        places = known.of(batch.frame)
        inside = batch.frame.filter(pl.Series(places != OUTSIDE, dtype=pl.Boolean))
        leaf = pl.Series("leaf", cells[places[places != OUTSIDE]].tolist(), pl.String)
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
