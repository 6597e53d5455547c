"""Epsilon in metres: the plain radius of protection.

Of two places ``r`` apart no report makes one more than ``e^{eps·r}`` times as likely, against the
other, as it was before (Paper: Def. 2.1). The radius is where that factor reaches ``FACTOR``:
``r = ln(4) / eps``. It does not depend on any prior; what an adversary's guess is worth does.
"""

from __future__ import annotations

import math

from geocorgi.errors import InvalidEpsilon
from geocorgi.matrix.epsilon import require_epsilon

FACTOR = 4.0


def protection_radius_km(epsilon_per_km: float) -> float:
    """Return how far apart places are that a report tells apart by the factor and no more."""
    return math.log(FACTOR) / require_epsilon(epsilon_per_km)


def epsilon_within(radius_km: float) -> float:
    """Return the epsilon per km at which the radius of protection is this one."""
    if not (math.isfinite(radius_km) and radius_km > 0):
        raise InvalidEpsilon("a radius of protection is a positive length, such as 0.5 km")
    return require_epsilon(math.log(FACTOR) / radius_km)
