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

from geocorgi.device.policy import Budget


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
    budget: Budget
    fits: bool
    frees_at: datetime | None


def balance(
    charges: Iterable[Charge], budget: Budget, now: datetime, next_epsilon_per_km: float
) -> Balance:
    """Return how the budget stands, and whether one more draw at this epsilon fits."""
    period = timedelta(hours=budget.period_hours)
    counted = sorted(
        (charge for charge in charges if charge.time + period > now),
        key=lambda charge: charge.time,
    )
    spent = sum((_exactly(charge.epsilon_per_km) for charge in counted), Decimal(0))
    fits, leaving = _room(counted, spent, budget, _exactly(next_epsilon_per_km))
    frees_at = None if leaving is None else leaving.time + period
    return Balance(float(spent), len(counted), budget, fits, frees_at)


def _room(
    counted: list[Charge], spent: Decimal, budget: Budget, wanted: Decimal
) -> tuple[bool, Charge | None]:
    """Return whether it fits now, and else the charge that has to slide out."""
    if budget.ceiling_per_km is None or spent + wanted <= _exactly(budget.ceiling_per_km):
        return True, None
    for charge in counted:
        spent -= _exactly(charge.epsilon_per_km)
        if spent + wanted <= _exactly(budget.ceiling_per_km):
            return False, charge
    return False, None


def _exactly(number: float) -> Decimal:
    return Decimal(repr(number))
