"""How large the area is that a report surely reveals: one subtree of the privacy level.

The map comes from a server that is not trusted. One whose leaves are a metre wide would keep every
promise of epsilon and still say to a few metres where the user is, for a subtree is never hidden.
So the policy says how small an area may be, and a finer map is refused, wherever the user is.
"""

from __future__ import annotations

from geocorgi.device.policy import Policy
from geocorgi.errors import PolicyNotMet
from geocorgi.tree import cells
from geocorgi.wire.public_map import PublicMap


def smallest_area_km2(public_map: PublicMap, level: int) -> float:
    """Return the area of the smallest subtree of a level."""
    return min(cells.area_km2(subtree.root) for subtree in public_map.subtrees(level))


def require_area(policy: Policy, public_map: PublicMap) -> None:
    """Refuse a map whose subtrees of the policy's level are smaller than the policy allows."""
    least = policy.protection.least_area_km2
    found = smallest_area_km2(public_map, policy.privacy_level)
    if found < least:
        raise PolicyNotMet(
            f"a report reveals one subtree of level {policy.privacy_level}, and this map has some "
            f"of {found:.2g} km², smaller than the {least:g} that the policy allows: choose a "
            "higher privacy_level, another map, or a smaller least_area_km2 under [protection]"
        )
