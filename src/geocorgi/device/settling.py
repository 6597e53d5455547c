"""Settling: a place that jitters is one place, before anything is drawn for it.

A receiver that wanders by some metres around a cell's edge would otherwise buy a fresh draw for
every leaf that it touches. Hysteresis: while the settled leaf is still *near* the point, it stays
the one to report from. Near is a leaf if the point would lie in it after moving by a margin: its
outline is at most that far. Dwell: a leaf that is farther has to last for some time before it
becomes the settled one; by default it need not.

What is promised then is about the settled leaf, which lies within the margin of the point (and
with a dwell, where the user was a dwell ago).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from geocorgi.errors import InvalidInput
from geocorgi.tree import cells
from geocorgi.tree.outlines import outline_km

MARGIN_KM = 0.05  # a telephone's receiver between houses
MOST_NEAR = 500
NO_DWELL = timedelta(0)


@dataclass(frozen=True, slots=True, repr=False)
class Settled:
    """The settled leaf and, while another one is dwelt in, that one and since when."""

    leaf: str
    towards: str | None = None
    since: datetime | None = None


def leaves_near(
    point: tuple[float, float], leaf_resolution: int, margin_km: float = MARGIN_KM
) -> tuple[str, ...]:
    """Return the point's own leaf and then, nearest first, those that are near by the margin."""
    own = cells.cell_at(*point, leaf_resolution)
    away_km = {own: 0.0}
    waiting = [own]
    while waiting:
        for cell in cells.neighbours(waiting.pop()):
            if cell not in away_km:
                away_km[cell] = outline_km(point, cell)
                if away_km[cell] <= margin_km:
                    waiting.append(cell)
        if len(away_km) > MOST_NEAR:
            raise InvalidInput("the margin is many times the leaves' size: use a smaller one")
    near = (cell for cell in away_km if away_km[cell] <= margin_km and cell != own)
    return (own, *sorted(near, key=lambda cell: away_km[cell]))


def settle(near: Sequence[str], before: Settled | None, now: datetime, dwell: timedelta) -> Settled:
    """Return where the user is settled now; ``near`` is the point's own leaf and those near it."""
    own = near[0]
    if before is None or cells.resolution_of(before.leaf) != cells.resolution_of(own):
        return Settled(own)
    if before.leaf in near:
        return Settled(before.leaf)
    if not dwell:
        return Settled(own)
    if before.towards is None or before.towards not in near or before.since is None:
        return Settled(before.leaf, own, now)
    if before.since > now:  # the clock was set back
        return Settled(before.leaf, before.towards, now)
    return Settled(before.towards) if now - before.since >= dwell else before
