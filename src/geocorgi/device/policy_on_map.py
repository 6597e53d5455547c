"""What a policy comes to on a map, counted: a summary that names no place."""

from __future__ import annotations

from dataclasses import dataclass

from geocorgi.device.attributes.values import Attributes
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.hiding_area import require_area
from geocorgi.device.policy import Policy
from geocorgi.device.removal import fitting_filters
from geocorgi.errors import InvalidPolicy
from geocorgi.wire.public_map import PublicMap


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many leaves one rule removes, and whether it is public."""

    rule: str
    removes: int
    public: bool


@dataclass(frozen=True, slots=True)
class OnMap:
    """The counts; ``emptied`` are subtrees in which no leaf is left to report."""

    leaves: int
    removed: int
    subtrees: int
    most_removed_of_a_subtree: int
    emptied: int
    rules: tuple[RuleCount, ...]
    filters: tuple[str, ...]
    notes: tuple[str, ...]


def policy_on_map(policy: Policy, public_map: PublicMap, attributes: Attributes) -> OnMap:
    """Return the counts, or refuse a policy that the map cannot carry."""
    if policy.privacy_level > public_map.height:
        raise InvalidPolicy(
            f"the map has privacy levels 1 to {public_map.height}, not {policy.privacy_level}"
        )
    require_area(policy, public_map)
    # A policy that looks at the user is shown for somebody at the map's first leaf.
    anybody = public_map.leaves[0] if policy.voids_geo_ind else None
    removal = removed_over_map(policy, public_map, attributes, anybody)
    removed = removal.removed
    trees = public_map.subtrees(policy.privacy_level)
    return OnMap(
        leaves=len(removal.leaves),
        removed=len(removed),
        subtrees=len(trees),
        most_removed_of_a_subtree=max(len(removed.intersection(tree.leaves)) for tree in trees),
        emptied=len(removal.emptied(policy.privacy_level)),
        rules=tuple(RuleCount(one.reason, len(one.removes), one.public) for one in removal.rules),
        filters=fitting_filters(removal, public_map),
        notes=removal.notes,
    )
