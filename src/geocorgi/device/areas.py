"""Black and white lists: cells, drawn polygons, and places with a radius.

A black list removes every leaf that it touches; a white list keeps the leaves whose centre lies in
it. Neither repr shows where: these are somebody's places.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from geocorgi.device.preferences import refused_at
from geocorgi.errors import InvalidInput, InvalidMessage, InvalidPolicy
from geocorgi.tree import cells
from geocorgi.wire.catalogue import require_name

LARGEST_RADIUS_KM = 5_000.0
MOST_CELLS = 117_649


@dataclass(frozen=True, slots=True)
class Place:
    """A named point of the user's."""

    latitude: float = field(repr=False)
    longitude: float = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a point that is not on the globe."""
        point = cells.require_point(self.latitude, self.longitude)
        object.__setattr__(self, "latitude", point[0])
        object.__setattr__(self, "longitude", point[1])


@dataclass(frozen=True, slots=True)
class _Listed:
    line: int | None = field(default=None, compare=False, kw_only=True)

    def refused(self, sentence: str) -> InvalidPolicy:
        """Return the error that names the area's line."""
        return refused_at(self.line, sentence)


@dataclass(frozen=True, slots=True)
class ListedCells(_Listed):
    """Cells of whatever resolution; a coarse one stands for all its leaves."""

    cells: tuple[str, ...] = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no list of cells."""
        if not 0 < len(self.cells) <= MOST_CELLS:
            raise self.refused(f"a list has 1 to {MOST_CELLS:,} cells")
        try:
            named = tuple(cells.require_cell(cell) for cell in self.cells)
        except InvalidInput as refusal:
            raise self.refused(str(refusal)) from None
        object.__setattr__(self, "cells", named)


@dataclass(frozen=True, slots=True)
class Polygon(_Listed):
    """A drawn area: GeoJSON (RFC 7946) as text, in one spelling."""

    geojson: str = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no JSON object; its geometry is judged where it is covered."""
        try:
            found = json.loads(self.geojson)
        except (ValueError, RecursionError, TypeError):
            raise self.refused("the area is not valid JSON") from None
        if not isinstance(found, dict):
            raise self.refused("the area is not GeoJSON: expected an object with a 'type'")
        text = json.dumps(found, sort_keys=True, separators=(",", ":"))
        object.__setattr__(self, "geojson", text)


@dataclass(frozen=True, slots=True)
class Around(_Listed):
    """What lies around a place of the policy, by its name."""

    place: str
    radius_km: float

    def __post_init__(self) -> None:
        """Refuse what is no name or no radius."""
        try:
            require_name(self.place, "place")
        except InvalidMessage as refusal:
            raise self.refused(str(refusal)) from None
        if not 0 < self.radius_km <= LARGEST_RADIUS_KM:
            raise self.refused(f"a radius is above 0 and at most {LARGEST_RADIUS_KM:,.0f} km")


Area = ListedCells | Polygon | Around
