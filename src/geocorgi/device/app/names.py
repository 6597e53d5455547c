"""Names of places that come with this package: nobody is asked where a name lies."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from importlib.resources import files

from geocorgi.tree import distances

NEAR_KM = 1.5


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A name, and about where it is: a made-by-hand point in its middle."""

    name: str
    latitude: float
    longitude: float


@functools.cache
def bundled_names() -> tuple[NamedPlace, ...]:
    """Return the names that are bundled."""
    text = (files("geocorgi.device.app") / "data" / "names.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(
        NamedPlace(row["name"], float(row["latitude"]), float(row["longitude"])) for row in rows
    )


@functools.lru_cache(maxsize=20_000)
def nearest_name(point: tuple[float, float], names: tuple[NamedPlace, ...]) -> str | None:
    """Return the name of what is nearest, unless that is far."""
    best, best_km = None, NEAR_KM
    for place in names:
        # A degree of latitude is 111 km: most names need no closer look.
        if abs(place.latitude - point[0]) * 111 < best_km:
            away = float(distances.haversine_km(*point, place.latitude, place.longitude))
            if away < best_km:
                best, best_km = place.name, away
    return best
