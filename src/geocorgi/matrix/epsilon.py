"""The privacy budget epsilon, per kilometre: what counts as one."""

from __future__ import annotations

import math

from geocorgi.errors import InvalidEpsilon

LARGEST_PER_KM = 1e6  # a millimetre: beyond it nothing is hidden and arithmetic has nothing to say


def require_epsilon(epsilon_per_km: float) -> float:
    """Return epsilon as a float, or refuse it."""
    if isinstance(epsilon_per_km, bool) or not isinstance(epsilon_per_km, int | float):
        raise InvalidEpsilon(f"epsilon is a number per km, not {type(epsilon_per_km).__name__}")
    epsilon = float(epsilon_per_km)
    if not (math.isfinite(epsilon) and 0 < epsilon <= LARGEST_PER_KM):
        raise InvalidEpsilon(
            f"epsilon is above 0 and at most {LARGEST_PER_KM:g} per km, not {epsilon:g}; "
            "common values lie between 1 (hidden among kilometres) and 20 (among blocks)"
        )
    return epsilon
