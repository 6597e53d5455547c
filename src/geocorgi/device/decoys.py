"""Decoys: cells that leave beside the user's own, so that the hole does not point at home.

Whoever sees many reports sees which cells never come. With decoys every subtree lacks as many
cells as the largest S has, and which ones a secret of the device has fixed for good: they do not
change with the policy, the map's version or the user's place. (Not a guarantee: the cells that are
never reported still contain S. docs/known-gaps.md says what remains.)
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from geocorgi.device.secret import DeviceSecret
from geocorgi.tree.location_tree import LocationTree

FEWEST_LEFT = 2


def decoys_over_map(
    subtrees: Iterable[LocationTree],
    pruned: AbstractSet[str],
    left_out: AbstractSet[str],
    delta: int,
    secret: DeviceSecret,
) -> frozenset[str]:
    """Return the cells that fill S up to δ in every subtree, as far as two cells remain."""
    decoys: set[str] = set()
    for subtree in subtrees:
        columns = [leaf for leaf in subtree.leaves if leaf not in left_out]
        staying = [leaf for leaf in columns if leaf not in pruned]
        gone = len(columns) - len(staying)
        wanted = max(0, min(delta - gone, len(staying) - FEWEST_LEFT))
        decoys.update(sorted(staying, key=lambda leaf: secret.name("decoy", leaf))[:wanted])
    return frozenset(decoys)
