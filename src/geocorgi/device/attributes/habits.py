"""Home, office and outliers, inferred from one person's own visits (Paper: §6.1).

Documented heuristics on the hours of the local clock. A day begins at 6, so that two o'clock on
Saturday belongs to Friday's night; Saturday and Sunday are free days, the others working days.

* **home**: the leaf seen on most days at home hours: 20 to 6, on working days also 6 to 8:30, on
  free days also 8 to 11. A leaf never seen on a free day counts a third: so looks the office of
  somebody who works at night. At least two days.
* **office**: of the other leaves the one seen on most working days at office hours, 9 to 17:30,
  both before and after noon, where at least half of its visits are such and few are on free days.
  Where there is none, the same at night, 22 to 6. At least three days.
* **outlier**: a leaf seen once, between 1 and 5, by somebody with ten visits or more.

Where the visits do not say, nothing is said. How often this is right is measured on a made-up city
(tests/device/attributes/test_habits.py) and is no promise about anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

HOME_DAYS = 2
OFFICE_DAYS = 3
FEWEST_FOR_OUTLIERS = 10
NEVER_FREE = 1 / 3
MOST_FREE = 0.2
LEAST_AT_WORK = 0.5
SATURDAY = 5
Days = Counter[str]


@dataclass(frozen=True, slots=True)
class Visit:
    """A leaf and the local time, without a zone, at which its clocks stood."""

    leaf: str
    local_time: datetime

    @property
    def hour(self) -> float:
        """The hour of the day, with its fraction."""
        return self.local_time.hour + self.local_time.minute / 60

    @property
    def day(self) -> date:
        """The day that the visit belongs to; it begins at 6."""
        return (self.local_time - timedelta(hours=6)).date()

    @property
    def is_free(self) -> bool:
        """Whether the day is a Saturday or a Sunday."""
        return self.day.weekday() >= SATURDAY


@dataclass(frozen=True, slots=True)
class Habits:
    """What the visits say; None and nothing where they do not say."""

    home: str | None
    office: str | None
    outliers: tuple[str, ...]


def habits_of(visits: Iterable[Visit]) -> Habits:
    """Return what one person's visits say about her places."""
    known = list(visits)
    home = _home(known)
    office = _office(known, home)
    return Habits(home, office, _outliers(known, {home, office}))


def _home(visits: Sequence[Visit]) -> str | None:
    at_home = _days(visits, _is_home_hour)
    free = _days(visits, lambda visit: visit.is_free)
    scores = {leaf: days * (1 if free[leaf] else NEVER_FREE) for leaf, days in at_home.items()}
    best = _best(scores)
    return best if best is not None and at_home[best] >= HOME_DAYS else None


def _office(visits: Sequence[Visit], home: str | None) -> str | None:
    elsewhere = [visit for visit in visits if visit.leaf != home]
    mornings = _days(elsewhere, lambda visit: _is_office_hour(visit) and visit.hour < 12)
    by_day = _office_days(elsewhere, _is_office_hour, MOST_FREE)
    afternoons = _days(elsewhere, lambda visit: _is_office_hour(visit) and visit.hour >= 12)
    both = {leaf: days for leaf, days in by_day.items() if mornings[leaf] and afternoons[leaf]}
    return _best(both) or _best(_office_days(elsewhere, _is_night_shift, 0.0))


def _office_days(
    visits: Sequence[Visit], is_work: Callable[[Visit], bool], most_free: float
) -> Days:
    """Return the working days of the leaves that could be an office."""
    worked = _days(visits, is_work)
    free = _days(visits, lambda visit: visit.is_free)
    seen = Counter(visit.leaf for visit in visits)
    return Counter(
        {
            leaf: days
            for leaf, days in worked.items()
            if days >= max(OFFICE_DAYS, LEAST_AT_WORK * seen[leaf])
            and free[leaf] <= most_free * days
        }
    )


def _outliers(visits: Sequence[Visit], known: set[str | None]) -> tuple[str, ...]:
    if len(visits) < FEWEST_FOR_OUTLIERS:
        return ()
    seen = Counter(visit.leaf for visit in visits)
    odd = {
        visit.leaf
        for visit in visits
        if seen[visit.leaf] == 1 and 1 <= visit.hour < 5 and visit.leaf not in known
    }
    return tuple(sorted(odd))


def _is_home_hour(visit: Visit) -> bool:
    if visit.hour >= 20 or visit.hour < 6:
        return True
    return 8 <= visit.hour < 11 if visit.is_free else visit.hour < 8.5


def _is_office_hour(visit: Visit) -> bool:
    return not visit.is_free and 9 <= visit.hour < 17.5


def _is_night_shift(visit: Visit) -> bool:
    return not visit.is_free and (visit.hour >= 22 or visit.hour < 6)


def _days(visits: Iterable[Visit], counts: Callable[[Visit], bool]) -> Days:
    """Return on how many days each leaf was seen so: ten visits in one evening are one day."""
    return Counter(leaf for leaf, _ in {(v.leaf, v.day) for v in visits if counts(v)})


def _best(scores: Mapping[str, float]) -> str | None:
    """Return the leaf of the highest score; of several the first by name, whatever the order."""
    return min(scores, key=lambda leaf: (-scores[leaf], leaf), default=None)
