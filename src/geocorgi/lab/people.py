"""Real or made-up people's own places, inferred from their check-ins as §6.1 does.

The device's own inference is used, on everybody with enough visits in the tree; nobody is named
and nothing but counts leaves this room.
"""

from __future__ import annotations

from functools import lru_cache

from geocorgi.checkins.counts import visits
from geocorgi.device.attributes.habits import Habits, Visit, habits_of
from geocorgi.lab.city import check_ins, city_of
from geocorgi.lab.experiment import Setting
from geocorgi.tree.time_zone import local_time

FEWEST_VISITS = 10


@lru_cache
def people_of(name: str, setting: Setting) -> tuple[Habits, ...]:
    """Return the habits of everybody with ten visits or more, in the order of the users' names."""
    city = city_of(name, setting)
    with check_ins(name, setting) as source:
        frame = visits(source, city.tree.leaves).frame
    seen: dict[str, list[Visit]] = {}
    columns = (frame[column].to_list() for column in ("user", "leaf", "time"))
    for user, leaf, time in zip(*columns, strict=True):
        seen.setdefault(user, []).append(Visit(leaf, local_time(leaf, time)))
    return tuple(habits_of(seen[user]) for user in sorted(seen) if len(seen[user]) >= FEWEST_VISITS)
