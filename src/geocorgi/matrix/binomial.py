"""Exact confidence bounds of a probability from counts (Clopper and Pearson, Biometrika 1934).

The lower bound solves ``P(X ≥ x | p) = α``, the upper one ``P(X ≤ x | p) = α``: no normal
approximation, so they hold for every p, for no success and for nothing but successes. The tail is
the regularised incomplete beta function, computed by its continued fraction (modified Lentz); the
bounds are then moved outwards by more than its rounding.
"""

from __future__ import annotations

import math

from geocorgi.errors import InvalidInput

BISECTIONS = 100
MOST_TERMS = 100_000
SETTLED = 1e-14
TINY = 1e-300
OUTWARDS = 1e-8  # relative; counts tell nothing that fine


def lower_bound(successes: int, trials: int, alpha: float) -> float:
    """Return the p under which this many successes or more are less likely than alpha."""
    _require(successes, trials, alpha)
    if successes == 0:
        return 0.0
    return _least_with(successes, trials, alpha) * (1 - OUTWARDS)


def upper_bound(successes: int, trials: int, alpha: float) -> float:
    """Return the p above which this few successes or fewer are less likely than alpha."""
    _require(successes, trials, alpha)
    if successes == trials:
        return 1.0
    # "x or fewer at p" is "x + 1 or more at p" not happening: its probability is 1 − alpha there.
    return min(_least_with(successes + 1, trials, 1 - alpha) * (1 + OUTWARDS), 1.0)


def at_least(successes: int, trials: int, probability: float) -> float:
    """Return ``P(X ≥ successes)`` for a binomial X, with at least one success asked for."""
    if probability <= 0:
        return 0.0
    if probability >= 1:
        return 1.0
    a, b = float(successes), float(trials - successes + 1)
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(probability)
        + b * math.log1p(-probability)
    )
    if probability < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, probability) / a
    return 1.0 - front * _fraction(b, a, 1 - probability) / b


def _least_with(successes: int, trials: int, tail: float) -> float:
    """Return the p at which ``P(X ≥ successes)`` reaches ``tail``; it rises with p."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if at_least(successes, trials, middle) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    upper, lower = 1.0, 1.0 - (a + b) * x / (a + 1)
    lower = 1.0 / (lower if abs(lower) > TINY else TINY)
    value = lower
    for term in range(1, MOST_TERMS):
        even = term * (b - term) * x / ((a + 2 * term - 1) * (a + 2 * term))
        odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1))
        for step in (even, odd):
            lower = 1.0 + step * lower
            lower = 1.0 / (lower if abs(lower) > TINY else TINY)
            upper = 1.0 + step / upper
            upper = upper if abs(upper) > TINY else TINY
            value *= lower * upper
        if abs(lower * upper - 1) < SETTLED:
            return value
    raise InvalidInput("these counts are too large for an exact bound; use fewer draws")


def _require(successes: int, trials: int, alpha: float) -> None:
    if not 0 <= successes <= trials or trials < 1:
        raise InvalidInput(f"{successes} successes in {trials} trials: that cannot be")
    if not 0 < alpha < 1:
        raise InvalidInput(f"alpha is between 0 and 1, both excluded, not {alpha:g}")
