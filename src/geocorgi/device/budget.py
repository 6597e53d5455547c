"""How much may be told in how much time: what fresh draws cost, added up over a sliding window.

Fresh draws compose: n of them from one place cost n times their epsilon. The window slides, so no
stretch of time as long as the period ever holds more than the ceiling (a calendar's day would
allow twice that around midnight). A charge from the future, after a clock was set back, counts.
Sums are exact in what was written: 0.1 three times is 0.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from geocorgi.errors import InvalidInput
from geocorgi.matrix.epsilon import require_epsilon

LONGEST_PERIOD = timedelta(days=3_660)


class AtCeiling(StrEnum):
    """What happens to *every* request at the ceiling, for old places and new ones alike."""

    REFUSE = "refuse"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Budget:
    """At most ``ceiling_per_km`` of composed epsilon within any ``period``; None for no limit."""

    ceiling_per_km: float | None = None
    period: timedelta = timedelta(days=1)
    at_ceiling: AtCeiling = AtCeiling.REFUSE

    def __post_init__(self) -> None:
        """Refuse what limits nothing or everything."""
        if self.ceiling_per_km is not None:
            object.__setattr__(self, "ceiling_per_km", require_epsilon(self.ceiling_per_km))
        if not timedelta(0) < self.period <= LONGEST_PERIOD:
            raise InvalidInput("a budget's period is above zero and at most ten years")
        object.__setattr__(self, "at_ceiling", AtCeiling(self.at_ceiling))


@dataclass(frozen=True, slots=True)
class Charge:
    """One fresh draw: when, and at what epsilon."""

    time: datetime
    epsilon_per_km: float


@dataclass(frozen=True, slots=True)
class Balance:
    """What the period has cost so far, and what is left.

    ``frees_at`` says when a next draw fits: None if it does now, or if it never will.
    """

    spent_per_km: float
    draws: int
    ceiling_per_km: float | None
    period: timedelta
    fits: bool
    frees_at: datetime | None


def balance(
    charges: Iterable[Charge], budget: Budget, now: datetime, next_epsilon_per_km: float
) -> Balance:
    """Return how the budget stands, and whether one more draw at this epsilon fits."""
    counted = sorted(
        (charge for charge in charges if charge.time + budget.period > now),
        key=lambda charge: charge.time,
    )
    spent = sum((_exactly(charge.epsilon_per_km) for charge in counted), Decimal(0))
    fits, frees_at = _room(counted, spent, budget, _exactly(next_epsilon_per_km))
    return Balance(float(spent), len(counted), budget.ceiling_per_km, budget.period, fits, frees_at)


def _room(
    counted: list[Charge], spent: Decimal, budget: Budget, wanted: Decimal
) -> tuple[bool, datetime | None]:
    """Return whether the wanted epsilon fits now, and else when enough charges have slid out."""
    if budget.ceiling_per_km is None or spent + wanted <= _exactly(budget.ceiling_per_km):
        return True, None
    for charge in counted:
        spent -= _exactly(charge.epsilon_per_km)
        if spent + wanted <= _exactly(budget.ceiling_per_km):
            return False, charge.time + budget.period
    return False, None


def _exactly(number: float) -> Decimal:
    return Decimal(repr(number))
