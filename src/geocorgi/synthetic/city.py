"""A made-up city with made-up people, and the truth about them.

For demonstrations and tests: check-ins in the layout and with the unevenness of real ones, anywhere
on the globe, fixed by a seed to the byte, and with a ground truth (where everybody lives and works,
and which cells are outliers) against which inference can be scored. Nothing is copied or
estimated from anybody's data.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from geocorgi.errors import InvalidInput
from geocorgi.seeded import Chance, require_seed
from geocorgi.synthetic.days import Calendar, Visit, lived, outliers
from geocorgi.synthetic.ground import grown_ground
from geocorgi.synthetic.people import Habit, Person, grown_people
from geocorgi.tree.cells import require_cell, require_resolution, resolution_of

MOST_LEVELS = 5


@dataclass(frozen=True, slots=True)
class CityPlan:
    """Everything that a city follows from."""

    root: str
    timezone: str
    seed: int
    leaf_resolution: int = 9
    users: int = 400
    median_check_ins: float = 25.0
    first_day: date = date(2010, 2, 1)
    days: int = 240

    def __post_init__(self) -> None:
        levels = require_resolution(self.leaf_resolution) - resolution_of(require_cell(self.root))
        require_seed(self.seed)
        if not 1 <= levels <= MOST_LEVELS:
            raise InvalidInput(f"leaves are 1 to {MOST_LEVELS} resolutions finer than the root")
        if self.users < 1 or self.days < 1 or not 1 <= self.median_check_ins <= 10_000:
            raise InvalidInput(
                "a city needs a user, a day, and a median of 1 to 10,000 check-ins a user"
            )


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of one user; ``office_cell`` is None for those without an office."""

    user: int
    habit: Habit
    home_cell: str
    office_cell: str | None
    outlier_cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class City:
    """The check-ins, by user and newest first like SNAP's, and the truth by user."""

    plan: CityPlan
    visits: tuple[Visit, ...]
    truth: tuple[Truth, ...]


def synthetic_city(plan: CityPlan) -> City:
    """Make the city up: the same plan gives the same city, always."""
    chance = Chance(plan.seed)
    calendar = Calendar(plan.first_day, plan.days, _zone(plan.timezone))
    ground = grown_ground(plan.root, plan.leaf_resolution, chance)
    people = grown_people(ground, plan.users, plan.median_check_ins, chance)
    visits: list[Visit] = []
    truth: list[Truth] = []
    for person in people:
        usual = lived(person, ground, calendar, chance)
        odd = outliers(person, usual, ground, calendar, chance)
        visits += sorted(usual + odd, key=lambda visit: visit.time, reverse=True)
        truth.append(_truth(person, odd))
    return City(plan, tuple(visits), tuple(truth))


def _truth(person: Person, odd: list[Visit]) -> Truth:
    return Truth(
        person.user,
        person.habit,
        person.home.leaf,
        person.office.leaf if person.office else None,
        tuple(visit.place.leaf for visit in odd),
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"no time zone {name!r} here; a zone is named like 'America/Los_Angeles', and where "
            "the system has no zones: pip install 'geocorgi[data]'"
        ) from None
