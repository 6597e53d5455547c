"""Maps small enough to hold in the head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geocorgi.matrix.prunable import Rows
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors
from geocorgi.wire.predicate import Condition
from geocorgi.wire.public_map import PublicMap, Settings
from geocorgi.wire.shard import shard_of

ROOT = "872830828ffffff"
TREE = LocationTree(ROOT, 2)  # 49 leaves, seven subtrees of seven
LEAVES = TREE.leaves


def small_map(**changes) -> PublicMap:
    """Return a map of 49 leaves that offers deltas 0 and 2 at level 1, and level 2."""
    plain = PublicMap(
        roots=(ROOT,),
        height=2,
        priors=Priors(LEAVES, np.arange(49) % 5),
        settings=Settings((5.0, 15.0)),
        targets=Priors(LEAVES[::10], np.ones(5)),
        attributes={"popular_18": np.arange(49.0)},
        filters={"even": LEAVES[::2]},
    )
    return with_catalogue(replace(plain, **changes), Offer((1, 2), (0, 2), tuple(Rows)))


def shard_map() -> PublicMap:
    """Return a map of 49 leaves of a larger region, with a filter that says what passes it."""
    busy = (Condition("popular_18", at_least=10.0), Condition("popular_18", at_most=44.5))
    return replace(
        small_map(filters={"busy": LEAVES[10:45]}),
        predicates={"busy": busy},
        shard=shard_of((ROOT, "872830829ffffff")),
    )
