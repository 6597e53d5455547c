"""The ground of a made-up city: water and parks, centres, and the places that people go to.

Popularity is as uneven as in real check-ins: places have Zipf's weights and stand mostly around a
few centres, a coast cuts some cells off and parks leave holes, so that a part of the cells has no
visit at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from geocorgi.seeded import Chance, cumulated
from geocorgi.synthetic.plane import Plane, plane_at
from geocorgi.tree.cells import (
    boundary,
    cell_at,
    centre,
    descendants,
    neighbours,
    resolution_of,
)

CENTRES = 4
PARKS = 3
PLACES_AWAY = 20
PLACES_A_LEAF = 3
MOST_PLACES = 2000


class Hours(NamedTuple):
    """When a kind of place is open: hours of the local day, past 24 after midnight."""

    opens: float
    closes: float


ALWAYS = Hours(0.0, 24.0)
OPENING_HOURS = (
    Hours(7.0, 11.0),  # breakfast
    Hours(11.5, 14.5),  # lunch
    Hours(10.0, 20.0),  # shop
    Hours(9.5, 18.0),  # sight
    Hours(18.0, 22.5),  # dinner
    Hours(20.0, 25.5),  # bar
)


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere to check in: an id, a point, and the leaf that it is in."""

    location: int
    latitude: float
    longitude: float
    leaf: str
    hours: Hours = ALWAYS
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The leaves on land, the places in the city, and places around it.

    ``charms`` and ``popularity`` are running sums of weights of leaves and of places.
    """

    plane: Plane
    land: tuple[str, ...]
    charms: list[float]
    places: tuple[Place, ...]
    popularity: list[float]
    flat_places: tuple[tuple[float, float], ...]
    away: tuple[Place, ...]


def grown_ground(root: str, leaf_resolution: int, chance: Chance) -> Ground:
    """Make up the ground of a city inside ``root``."""
    plane, leaves = plane_at(root), descendants(root, leaf_resolution)
    flat = {leaf: plane.flat(*centre(leaf)) for leaf in leaves}
    land = _land(flat, chance)
    centres = [flat[land[int(chance.between(0, len(land)))]] for _ in range(CENTRES)]
    charms = cumulated([_charm(flat[leaf], centres) for leaf in land])
    places = tuple(
        _place(1 + rank, land[chance.place(charms)], plane, chance, 1.0 / (1.0 + rank) ** 0.85)
        for rank in range(min(MOST_PLACES, PLACES_A_LEAF * len(land)))
    )
    around = [_any_leaf(near, leaf_resolution, chance) for near in neighbours(root)]
    away = tuple(
        _place(1 + len(places) + at, around[at % len(around)], plane, chance, 1.0)
        for at in range(PLACES_AWAY)
    )
    return Ground(
        plane,
        land,
        charms,
        places,
        popularity=cumulated([place.weight for place in places]),
        flat_places=tuple(plane.flat(place.latitude, place.longitude) for place in places),
        away=away,
    )


def point_in(leaf: str, plane: Plane, chance: Chance) -> tuple[float, float]:
    """Return a point inside the leaf, in whole millionths of a degree; some leaves overhang."""
    middle = plane.flat(*centre(leaf))
    reach = min(math.dist(middle, plane.flat(*corner)) for corner in boundary(leaf)) * 0.7
    angle, share = chance.between(0, 2 * math.pi), math.sqrt(chance.uniform())
    drawn = plane.round(
        middle[0] + reach * share * math.cos(angle), middle[1] + reach * share * math.sin(angle)
    )
    for latitude, longitude in (drawn, centre(leaf)):
        point = round(latitude, 6), round(longitude, 6)
        if cell_at(*point, resolution_of(leaf)) == leaf:
            return point
    return centre(leaf)


def _place(location: int, leaf: str, plane: Plane, chance: Chance, weight: float) -> Place:
    hours = OPENING_HOURS[int(chance.between(0, len(OPENING_HOURS)))]
    return Place(location, *point_in(leaf, plane, chance), leaf, hours, weight)


def _land(flat: dict[str, tuple[float, float]], chance: Chance) -> tuple[str, ...]:
    """Return the leaves on this side of a wavy coast and outside the parks."""
    direction, phase = chance.between(0, 2 * math.pi), chance.between(0, 2 * math.pi)
    parks = []
    for _ in range(PARKS):
        angle, away = chance.between(0, 2 * math.pi), chance.between(0.3, 0.7)
        parks.append((away * math.cos(angle), away * math.sin(angle)))
    land = []
    for leaf, (x, y) in flat.items():
        out = x * math.cos(direction) + y * math.sin(direction)
        along = y * math.cos(direction) - x * math.sin(direction)
        dry = out < 0.5 + 0.12 * math.sin(4.0 * along + phase)
        if dry and all(math.dist((x, y), park) > 0.13 for park in parks):
            land.append(leaf)
    return tuple(land)


def _charm(at: tuple[float, float], centres: list[tuple[float, float]]) -> float:
    """Return how much a leaf attracts: the first centre most, hardly anything far from all."""
    near = (math.exp(-math.dist(at, c) / 0.16) / (1 + rank) for rank, c in enumerate(centres))
    return 0.004 + sum(near)


def _any_leaf(cell: str, resolution: int, chance: Chance) -> str:
    leaves = descendants(cell, resolution)
    return leaves[int(chance.between(0, len(leaves)))]
