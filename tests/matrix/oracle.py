"""A slow audit straight from the definition, in 60-digit decimals; it shares no code."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

DIGITS = 60


@dataclass(frozen=True)
class SlowAudit:
    smallest: Decimal  # infinite if no epsilon will do
    violations: int
    infinite: int


def slow_audit(weights: np.ndarray, distances_km: np.ndarray, epsilon: float) -> SlowAudit:
    smallest, violations, infinite = Decimal(0), 0, 0
    with decimal.localcontext() as context:
        context.prec = DIGITS
        context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
        rows = [[Decimal(number) for number in row] for row in weights.tolist()]
        shares = [[number / sum(row) for number in row] for row in rows]
        for i, mine in enumerate(shares):
            for j, theirs in enumerate(shares):
                if i == j:
                    continue
                distance = Decimal(float(distances_km[i, j]))
                for a, b in zip(mine, theirs, strict=True):
                    violations += a > (Decimal(epsilon) * distance).exp() * b
                    infinite += b == 0 < a
                    smallest = max(smallest, _needed(a, b, distance))
    return SlowAudit(smallest, violations, infinite)


def _needed(a: Decimal, b: Decimal, distance: Decimal) -> Decimal:
    if a <= b:
        return Decimal(0)
    if b == 0 or distance == 0:
        return Decimal("Infinity")
    return (a / b).ln() / distance
