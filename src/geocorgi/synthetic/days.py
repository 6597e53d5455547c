"""What a made-up person does with her days: check-ins at home, at work, out, away and astray.

Hours are of the city's own clock, past 24 after midnight, and become UTC by its time zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from geocorgi.seeded import Chance, cumulated
from geocorgi.synthetic.ground import Ground, Hours, Place, point_in
from geocorgi.synthetic.people import Habit, Person

APART = timedelta(minutes=20)
WITH_OUTLIERS = 0.35
FEWEST_FOR_OUTLIERS = 10
AWAY = 0.04
AFTER_WORK = 17.5

# How the check-ins of a day are shared out: at home, at the office, out.
WORKDAY = (0.34, 0.36, 0.30)
FREE_DAY = (0.42, 0.0, 0.58)
EVENING, NIGHT, MORNING = Hours(20.0, 24.0), Hours(24.0, 29.5), Hours(6.3, 8.3)
AT_HOME = ((EVENING, 0.6), (NIGHT, 0.12), (MORNING, 0.28))
AT_HOME_ON_FREE_DAYS = ((EVENING, 0.45), (NIGHT, 0.15), (Hours(8.0, 11.0), 0.4))
AT_HOME_AFTER_NIGHTS = ((Hours(8.0, 16.5), 0.9), (Hours(16.5, 20.0), 0.1))
OFFICE_BY_DAY, OFFICE_BY_NIGHT = Hours(9.0, 17.5), Hours(22.0, 29.8)
ODD_HOURS = Hours(25.5, 28.5)


class Visit(NamedTuple):
    """One check-in."""

    user: int
    time: datetime
    place: Place


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days that are made up and the clock that they are lived by."""

    first_day: date
    days: int
    zone: ZoneInfo

    def time(self, day: date, hour: float) -> datetime:
        """Return the UTC time, to the second, of an hour of the city's clock."""
        local = datetime(day.year, day.month, day.day) + timedelta(seconds=int(hour * 3600))  # noqa: DTZ001
        return local.replace(tzinfo=self.zone).astimezone(UTC)

    def any_day(self, chance: Chance) -> date:
        """Return any of the days."""
        return self.first_day + timedelta(days=int(chance.between(0, self.days)))


def lived(person: Person, ground: Ground, calendar: Calendar, chance: Chance) -> list[Visit]:
    """Return a person's check-ins by time, two never closer than 20 minutes."""
    drawn = [_visit(person, ground, calendar, chance) for _ in range(person.check_ins)]
    visits: list[Visit] = []
    for visit in sorted(drawn, key=lambda visit: (visit.time, visit.place.location)):
        if not visits or visit.time - visits[-1].time >= APART:
            visits.append(visit)
    return visits


def outliers(
    person: Person, usual: Sequence[Visit], ground: Ground, calendar: Calendar, chance: Chance
) -> list[Visit]:
    """Return no, one or two visits at odd hours to leaves where the person is never otherwise."""
    if len(usual) < FEWEST_FOR_OUTLIERS or not chance.happens(WITH_OUTLIERS):
        return []
    own = {person.home.leaf, person.office.leaf if person.office else person.home.leaf}
    known = own | {visit.place.leaf for visit in usual}
    strange = [leaf for leaf in ground.land if leaf not in known]
    found: list[Visit] = []
    for location in person.strange_locations[: 1 + chance.happens(0.4)]:
        if strange:
            leaf = strange.pop(int(chance.between(0, len(strange))))
            place = Place(location, *point_in(leaf, ground.plane, chance), leaf)
            time = calendar.time(calendar.any_day(chance), _hour(ODD_HOURS, chance))
            found.append(Visit(person.user, time, place))
    return found


def _visit(person: Person, ground: Ground, calendar: Calendar, chance: Chance) -> Visit:
    day = calendar.any_day(chance)
    works = person.office is not None and day.weekday() < 5
    home, office, out = WORKDAY if works else FREE_DAY
    home, office = home * person.checks_in_at_home, office * person.checks_in_at_office
    where = chance.place(cumulated([home, office, out]))
    if where == 0:
        place, hour = person.home, _hour_at_home(person, chance, works=works)
    elif where == 1 and person.office is not None:
        hours = OFFICE_BY_NIGHT if person.habit is Habit.NIGHT else OFFICE_BY_DAY
        place, hour = person.office, _hour(hours, chance)
    else:
        place, hour = _outing(person, ground, chance, works=works)
    return Visit(person.user, calendar.time(day, hour + person.hours_late), place)


def _hour_at_home(person: Person, chance: Chance, *, works: bool) -> float:
    choices: tuple[tuple[Hours, float], ...] = AT_HOME if works else AT_HOME_ON_FREE_DAYS
    if works and person.habit is Habit.NIGHT:
        choices = AT_HOME_AFTER_NIGHTS
    at = chance.place(cumulated([weight for _, weight in choices]))
    return _hour(choices[at][0], chance)


def _outing(person: Person, ground: Ground, chance: Chance, *, works: bool) -> tuple[Place, float]:
    """Return a place and an hour at which it is open and the person is free."""
    place = _somewhere(person, ground, chance)
    for _ in range(10):
        opens, closes = place.hours
        lunch = opens < 14.0 and closes < 15.0 and opens > 11.0
        if works and not lunch:  # the night worker is free at the same hours: before her shift
            opens = max(opens, AFTER_WORK)
            closes = min(closes, 21.5) if person.habit is Habit.NIGHT else closes
        if closes - opens > 0.5:
            return place, chance.between(opens, closes)
        place = _somewhere(person, ground, chance)
    return place, _hour(place.hours, chance)


def _somewhere(person: Person, ground: Ground, chance: Chance) -> Place:
    if chance.happens(AWAY):
        return ground.away[int(chance.between(0, len(ground.away)))]
    if chance.happens(0.75):
        liked = cumulated([1.0 / (1 + rank) for rank in range(len(person.favourites))])
        return person.favourites[chance.place(liked)]
    return ground.places[chance.place(ground.popularity)]


def _hour(hours: Hours, chance: Chance) -> float:
    return chance.between(hours.opens, hours.closes)
