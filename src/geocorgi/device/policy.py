"""A user's policy ``<privacy_level, precision_level, preferences>`` (Paper: §3.2).

Everything that leaves the device follows from this value and the public map; nothing in it may
depend on where the user is. The one exception is said by ``voids_geo_ind``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from geocorgi.device.areas import Area, Around, Place
from geocorgi.device.preferences import ME, SUBTREE, Preference
from geocorgi.device.recipient import require_recipient
from geocorgi.device.sources import Source
from geocorgi.errors import InvalidMessage, InvalidPolicy
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import MOST_LEVELS, require_name

MOST_RULES = 200
USUAL_EPSILON_PER_KM = 5.0
USUAL_LEAST_AREA_KM2 = 0.05  # a circle of 126 m
LARGEST_AREA_KM2 = 5.2e8  # the Earth
LONGEST_PERIOD_HOURS = 24.0 * 36_525
LEAST_PERIOD_HOURS = timedelta(microseconds=1) / timedelta(hours=1)
Word = TypeVar("Word", bound=StrEnum)
Named = TypeVar("Named")


class OnExcess(StrEnum):
    """What happens where even the catalogue's largest δ is too small; decided for the whole map."""

    UNIVERSAL = "universal"
    FEWER = "fewer"
    REFUSE = "refuse"


class OnUnreachable(StrEnum):
    """What happens where no forest can be had, from the cache or from anybody."""

    REFUSE = "refuse"
    UNIVERSAL = "universal"


class Precision(StrEnum):
    """How a leaf becomes a coarser cell: its ancestor is said, or rows are averaged (Eq. 17)."""

    COARSEN = "coarsen"
    AVERAGE = "average"


class AtCeiling(StrEnum):
    """What a spent budget does: everything is refused, or the last report is repeated."""

    REFUSE = "refuse"
    REPEAT = "repeat"


WORDS: Mapping[str, type[StrEnum]] = MappingProxyType(
    {
        "rows": Rows,
        "on_excess": OnExcess,
        "on_unreachable": OnUnreachable,
        "precision": Precision,
    }
)


def _word(words: type[Word], word: str, name: str) -> Word:
    try:
        return words(word)
    except ValueError:
        raise InvalidPolicy(f"{name} is one of {', '.join(words)}") from None


@dataclass(frozen=True, slots=True)
class Protection:
    """The wish: a budget per km, or a promise within a radius; exactly one of the two.

    ``least_area_km2`` is how small the area may be that a report reveals beyond that.
    """

    epsilon_per_km: float | None = USUAL_EPSILON_PER_KM
    radius_km: float | None = None
    least_area_km2: float = USUAL_LEAST_AREA_KM2

    def __post_init__(self) -> None:
        """Refuse no wish, two wishes, or one that means nothing."""
        if not 0 <= self.least_area_km2 <= LARGEST_AREA_KM2:
            raise InvalidPolicy("least_area_km2 is an area on Earth in km², such as 0.05")
        if (self.epsilon_per_km is None) == (self.radius_km is None):
            raise InvalidPolicy("protection is either epsilon_per_km or a radius")
        if self.epsilon_per_km is not None:
            object.__setattr__(self, "epsilon_per_km", require_epsilon(self.epsilon_per_km))
        elif not 0 < (self.radius_km or 0.0) < math.inf:
            raise InvalidPolicy("a radius of protection is a length above zero, such as '500 m'")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much epsilon fresh draws may compose to in a period; no ceiling if None."""

    period_hours: float = 24.0
    ceiling_per_km: float | None = None
    at_ceiling: AtCeiling = AtCeiling.REFUSE

    def __post_init__(self) -> None:
        """Refuse what no ledger could count by; a period is counted to the microsecond."""
        object.__setattr__(self, "at_ceiling", _word(AtCeiling, self.at_ceiling, "at_ceiling"))
        if not 0 < self.period_hours <= LONGEST_PERIOD_HOURS:
            raise InvalidPolicy("a period is a time from a microsecond to a century: '24 hours'")
        hours = timedelta(hours=self.period_hours) / timedelta(hours=1)
        object.__setattr__(self, "period_hours", max(hours, LEAST_PERIOD_HOURS))
        if self.ceiling_per_km is not None:
            object.__setattr__(self, "ceiling_per_km", require_epsilon(self.ceiling_per_km))


@dataclass(frozen=True, slots=True)
class Recipient:
    """What one recipient gets; never chosen by place."""

    precision_level: int


@dataclass(frozen=True, slots=True)
class Policy:
    """A whole policy, judged at birth; ``private`` keeps every preference on the device."""

    privacy_level: int
    precision_level: int
    preferences: tuple[Preference, ...] = ()
    rows: Rows = Rows.KEEP
    on_excess: OnExcess = OnExcess.UNIVERSAL
    precision: Precision = Precision.COARSEN
    decoys: bool = False
    private: bool = False
    protection: Protection = field(default_factory=Protection)
    budget: Budget = field(default_factory=Budget)
    recipients: Mapping[str, Recipient] = field(default_factory=dict)
    black_list: tuple[Area, ...] = ()
    white_list: tuple[Area, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    on_unreachable: OnUnreachable = OnUnreachable.REFUSE

    def __post_init__(self) -> None:
        """Refuse what no device could follow."""
        require_levels(self.privacy_level, self.precision_level)
        for name, words in WORDS.items():
            object.__setattr__(self, name, _word(words, getattr(self, name), name))
        for name in ("preferences", "black_list", "white_list"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.preferences) + len(self.black_list) + len(self.white_list) > MOST_RULES:
            raise InvalidPolicy(f"a policy has at most {MOST_RULES} preferences and areas")
        for name in ("places", "sources"):
            named = _named(getattr(self, name), name.removesuffix("s"))
            object.__setattr__(self, name, MappingProxyType(named))
        self._require_recipients()
        self._require_places()

    @property
    def voids_geo_ind(self) -> bool:
        """Whether a preference looks at where the user is, so that no epsilon holds."""
        return any(preference.from_me for preference in self.preferences)

    @property
    def asked_for_one_subtree(self) -> tuple[str, ...]:
        """The variables whose providers are told one subtree, by the user's own opt-in."""
        return tuple(name for name, source in self.sources.items() if source.subtree)

    def precision_for(self, recipient: str | None) -> int:
        """Return the precision level of a recipient; one without a wish gets the policy's own."""
        named = self.recipients.get(recipient) if recipient is not None else None
        return named.precision_level if named else self.precision_level

    def _require_recipients(self) -> None:
        for label in self.recipients:
            require_recipient(label)
            require_levels(self.privacy_level, self.recipients[label].precision_level)
        named = dict(sorted(self.recipients.items()))
        object.__setattr__(self, "recipients", MappingProxyType(named))

    def _require_places(self) -> None:
        for preference in self.preferences:
            if preference.origin not in (None, ME, SUBTREE, *self.places):
                raise preference.refused(
                    f"there is no place '{preference.origin}': a distance is from '{SUBTREE}' (the "
                    f"centre of the subtree), '{ME}', or a [place.NAME] of the policy"
                )
        for area in (*self.black_list, *self.white_list):
            if isinstance(area, Around) and area.place not in self.places:
                raise area.refused(f"there is no [place.{area.place}] in the policy")


def require_levels(privacy_level: int, precision_level: int) -> None:
    """Refuse levels of which the precision is not below the privacy (Paper: §3.2)."""
    for level, name in ((privacy_level, "privacy_level"), (precision_level, "precision_level")):
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= MOST_LEVELS:
            raise InvalidPolicy(f"{name} is a whole number from 0 to {MOST_LEVELS}")
    if precision_level >= privacy_level:
        raise InvalidPolicy(
            f"precision_level {precision_level} is not below privacy_level {privacy_level}: "
            "the cell that is reported is finer than the area that hides it"
        )


def _named(found: Mapping[str, Named], what: str) -> dict[str, Named]:
    try:
        return {require_name(name, what): found[name] for name in sorted(found)}
    except InvalidMessage as refusal:
        raise InvalidPolicy(str(refusal)) from None
