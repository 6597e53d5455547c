"""A region in parts: one map for each root, so that each forest stays small."""

from __future__ import annotations

import numpy as np

from geocorgi.errors import InvalidInput
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.tree.priors import restricted
from geocorgi.wire.public_map import PublicMap
from geocorgi.wire.shard import shard_of


def in_shards(public_map: PublicMap, offer: Offer) -> list[PublicMap]:
    """Return the maps of the region's roots; each says what asking for it alone tells."""
    if len(public_map.roots) < 2:
        raise InvalidInput("a region in shards has two or more roots")
    return [with_catalogue(_shard(public_map, root), offer) for root in public_map.roots]


def _shard(public_map: PublicMap, root: str) -> PublicMap:
    (tree,) = [tree for tree in public_map.trees if tree.root == root]
    inside = set(tree.leaves)
    places = np.flatnonzero([leaf in inside for leaf in public_map.leaves])
    attributes = {name: row[places] for name, row in public_map.attributes.items()}
    return PublicMap(
        roots=(root,),
        height=public_map.height,
        priors=restricted(public_map.priors, tree.leaves),
        settings=public_map.settings,
        targets=public_map.targets,
        attributes=attributes,
        filters={
            name: tuple(cell for cell in passing if cell in inside)
            for name, passing in public_map.filters.items()
        },
        predicates=public_map.predicates,
        shard=shard_of(public_map.roots),
    )
