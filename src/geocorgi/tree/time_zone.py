"""The only door to time zones by place: habits and hours go by the local clock.

The zone of a leaf is that of its centre, with every change between summer and winter time that it
has known. Nobody is asked: the borders of the zones are part of the installation.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from geocorgi.errors import MissingExtra
from geocorgi.tree import cells

try:
    import tzfpy
except ModuleNotFoundError:
    raise MissingExtra(
        "local times need tzfpy, which is not installed: pip install 'geocorgi[data]'"
    ) from None

LEAVES_REMEMBERED = 1 << 16


def local_time(leaf: str, time: datetime) -> datetime:
    """Return what the clocks showed in a leaf at a time that has a zone; without one itself."""
    return time.astimezone(zone_of(leaf)).replace(tzinfo=None)


@lru_cache(maxsize=LEAVES_REMEMBERED)
def zone_of(leaf: str) -> ZoneInfo:
    """Return the time zone at the centre of a leaf."""
    latitude, longitude = cells.centre(leaf)
    try:
        return ZoneInfo(tzfpy.get_tz(longitude, latitude) or "UTC")
    except ZoneInfoNotFoundError:
        raise MissingExtra("this system has no time zones: pip install 'geocorgi[data]'") from None
