"""How far leaves are from somewhere: the subtree's centre, a named place, or the user.

Only the first two give the same distances to everyone in the subtree. The third makes what is
removed depend on where the user is; then no epsilon holds, and reports say so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from geocorgi.device.policy import Policy
from geocorgi.device.preferences import ME, SUBTREE, Preference
from geocorgi.errors import InvalidInput
from geocorgi.tree import cells, distances


def distances_from(
    preference: Preference,
    policy: Policy,
    leaves: Sequence[str],
    leaf_resolution: int,
    real_leaf: str | None,
) -> dict[str, float]:
    """Return the distance in km from the preference's origin to the centre of each leaf."""
    latitudes, longitudes = cells.centres(leaves)
    if preference.origin == SUBTREE:
        resolution = max(leaf_resolution - policy.privacy_level, 0)
        roots = [cells.ancestor(leaf, resolution) for leaf in leaves]
        centres = {root: cells.centre(root) for root in set(roots)}
        origin: NDArray[np.float64] = np.array([centres[root] for root in roots])
    elif preference.origin == ME:
        if real_leaf is None:
            raise InvalidInput("a distance from 'me' needs to be told where the user is")
        origin = np.array([cells.centre(real_leaf)])
    else:
        place = policy.places[str(preference.origin)]
        origin = np.array([[place.latitude, place.longitude]])
    away = distances.haversine_km(origin[:, 0], origin[:, 1], latitudes, longitudes)
    return dict(zip(leaves, away.tolist(), strict=True))
