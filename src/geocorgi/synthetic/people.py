"""The people of a made-up city: where they live and work, what they like, and when.

Nobody here is drawn from anybody: every number comes from the seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from geocorgi.seeded import Chance, cumulated
from geocorgi.synthetic.ground import Ground, Place, point_in
from geocorgi.tree.cells import centre

FAVOURITES = 10
WITHOUT_OFFICE = 0.18
AT_NIGHT = 0.07
TRIES = 30


class Habit(StrEnum):
    """When somebody works."""

    DAY = "day"
    NIGHT = "night"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Person:
    """One user: home, office (None without one), favourite places, and how often she checks in.

    ``strange_locations`` are ids for places that only she ever visits.
    """

    user: int
    habit: Habit
    home: Place
    office: Place | None
    favourites: tuple[Place, ...]
    check_ins: int
    checks_in_at_home: float
    checks_in_at_office: float
    hours_late: float
    strange_locations: tuple[int, int]


def grown_people(ground: Ground, users: int, median: float, chance: Chance) -> list[Person]:
    """Make up people; half of them check in less than ``median`` times, a few very often."""
    first_free = 1 + len(ground.places) + len(ground.away)
    # Four ids each: home, office and two for outliers.
    return [_person(user, first_free + 4 * user, ground, median, chance) for user in range(users)]


def _person(user: int, location: int, ground: Ground, median: float, chance: Chance) -> Person:
    home = _settled(location, ground, chance, charmed=0.15)
    habit = _habit(chance)
    office = None
    if habit is not Habit.NONE:
        office = _office(location + 1, ground, home, chance)
    return Person(
        user=user,
        habit=Habit.NONE if office is None else habit,
        home=home,
        office=office,
        favourites=_favourites(ground, [home, office or home], chance),
        check_ins=max(1, round(chance.heavy(median, 1.3))),
        checks_in_at_home=chance.between(0.3, 1.3),
        checks_in_at_office=chance.between(0.15, 1.2),
        hours_late=chance.around(0.0, 0.6),
        strange_locations=(location + 2, location + 3),
    )


def _habit(chance: Chance) -> Habit:
    if chance.happens(WITHOUT_OFFICE):
        return Habit.NONE
    return Habit.NIGHT if chance.happens(AT_NIGHT) else Habit.DAY


def _office(location: int, ground: Ground, home: Place, chance: Chance) -> Place | None:
    """Return an office in another leaf than home's, if a few tries find one."""
    for _ in range(TRIES):
        office = _settled(location, ground, chance, charmed=1.0)
        if office.leaf != home.leaf:
            return office
    return None


def _settled(location: int, ground: Ground, chance: Chance, *, charmed: float) -> Place:
    """Return a place of one's own: near the centres as far as ``charmed``, otherwise anywhere."""
    anywhere = ground.land[int(chance.between(0, len(ground.land)))]
    leaf = ground.land[chance.place(ground.charms)] if chance.happens(charmed) else anywhere
    return Place(location, *point_in(leaf, ground.plane, chance), leaf)


def _favourites(ground: Ground, anchors: list[Place], chance: Chance) -> tuple[Place, ...]:
    """Return places that are popular and not far from where one is anyway, best first."""
    near = [ground.plane.flat(*centre(anchor.leaf)) for anchor in anchors]
    weights = [
        place.weight * max(math.exp(-math.dist(at, flat) / 0.3) for at in near)
        for place, flat in zip(ground.places, ground.flat_places, strict=True)
    ]
    liked = cumulated(weights)
    return tuple(ground.places[chance.place(liked)] for _ in range(FAVOURITES))
