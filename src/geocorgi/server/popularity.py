"""What is publicly known of leaves from check-ins: how many, and at which hour of the day.

Paper: §6.1, "what locations are popular and at what times". Hours are those of the clock on the
wall, daylight saving time included; a leaf's time zone is that of its centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.checkins.counts import visits
from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.readers import Checkins
from geocorgi.tree.time_zone import zone_of

HOURS = 24
COUNT = "checkins"


@dataclass(frozen=True, slots=True, eq=False)
class CountedLeaves:
    """Attributes of leaves: ``checkins``, and ``popular_00`` to ``popular_23`` by the hour."""

    attributes: dict[str, NDArray[np.float64]]
    inside: int
    outside: int
    bad_rows: int


def counted_leaves(checkins: Checkins, leaves: Sequence[str]) -> CountedLeaves:
    """Count the check-ins of each leaf, in all and by the hour of the day there."""
    found = visits(checkins, leaves)
    places = {leaf: place for place, leaf in enumerate(leaves)}
    by_hour = np.zeros((HOURS, len(places)))
    for leaf, hour, count in _hours(found.frame).iter_rows():
        by_hour[hour, places[leaf]] += count
    attributes = {COUNT: by_hour.sum(axis=0)}
    attributes |= {f"popular_{hour:02}": row for hour, row in enumerate(by_hour)}
    inside = int(by_hour.sum())
    return CountedLeaves(attributes, inside, found.outside, found.report.rows_bad)


def _hours(frame: pl.DataFrame) -> pl.DataFrame:
    """Return leaf, hour on the wall there, and how many."""
    zones: dict[str, list[str]] = {}
    for leaf in frame["leaf"].unique().sort().to_list():
        zones.setdefault(zone_of(leaf).key, []).append(leaf)
    local = [
        frame.filter(pl.col("leaf").is_in(inside)).select(
            "leaf", hour=pl.col("time").dt.convert_time_zone(zone).dt.hour()
        )
        for zone, inside in zones.items()
    ]
    empty = pl.DataFrame(schema={"leaf": pl.String(), "hour": pl.Int8()})
    return pl.concat([empty, *local]).group_by("leaf", "hour").len()
