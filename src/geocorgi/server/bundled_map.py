"""The map that a server publishes when it is given none: the made-up city's."""

from __future__ import annotations

from geocorgi.checkins.readers import read_snap
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.server.popularity import counted_leaves
from geocorgi.synthetic.files import SAN_FRANCISCO, bundled_check_ins
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import priors_from_counts
from geocorgi.wire.predicate import Condition, passing
from geocorgi.wire.public_map import PublicMap, Settings

HEIGHT = 3
EPSILONS_PER_KM = (5.0, 15.0)
GAP = 1e-2
LEVELS = (1, 2)
DELTAS = (0, 2, 4, 8, 16, 32)
POPULAR = (Condition("checkins", at_least=10.0),)


def bundled_map() -> PublicMap:
    """Return the map: 343 leaves, priors and popular hours from made-up check-ins."""
    tree = LocationTree(SAN_FRANCISCO.root, HEIGHT)
    with bundled_check_ins() as path:
        counted = counted_leaves(read_snap(path), tree.leaves)
    plain = PublicMap(
        roots=(tree.root,),
        height=HEIGHT,
        priors=priors_from_counts(tree.leaves, counted.attributes["checkins"]),
        settings=Settings(EPSILONS_PER_KM, GAP),
        attributes=counted.attributes,
        filters={"popular": passing(POPULAR, counted.attributes, tree.leaves)},
        predicates={"popular": POPULAR},
    )
    return with_catalogue(plain, Offer(LEVELS, DELTAS))
