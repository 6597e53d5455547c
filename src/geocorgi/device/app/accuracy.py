"""How far off reports are at an epsilon: of the checked matrix, or of the universal mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from geocorgi.device.app.session import Session
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.protection_radius import protection_radius_km
from geocorgi.tree import cells, distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.wire.public_map import PublicMap

MOST_LEAVES = 2_401


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The two radii around a point, of the epsilon that a wish gets, and how that is known."""

    middle: tuple[float, float]
    epsilon_per_km: float
    accurate_km: float
    offer: str
    how: str

    @property
    def radius_km(self) -> float:
        """Within what places are protected."""
        return protection_radius_km(self.epsilon_per_km)


def accuracy_at(session: Session, public_map: PublicMap, wished_per_km: float) -> Accuracy:
    """Return what a wished epsilon comes to where the user is, or in the middle of the map."""
    subtree = _subtree(session, public_map)
    middle = cells.centre(str(session.real_leaf or subtree.root))
    offered = sorted({entry.epsilon_per_km for entry in public_map.catalogue})
    stricter = [epsilon for epsilon in offered if epsilon <= wished_per_km]
    epsilon = stricter[-1] if stricter else wished_per_km
    all_offered = ", ".join(f"{one:g}" for one in offered) or "nothing"
    offer = f"{all_offered} per km: this wish gets {epsilon:g}"
    if not stricter:
        offer = f"{all_offered} per km: this map offers nothing as strict"
    checked = session.checked
    if checked is not None and checked.explanation.here is not None:
        here, request = checked.explanation.here, checked.customised.selection.request
        if request.epsilon_per_km == epsilon:
            km = here.usefulness.mean_distance_m / 1000
            return Accuracy(middle, epsilon, km, offer, "measured on your matrix")
    km = _universal_km(public_map, subtree, epsilon)
    return Accuracy(middle, epsilon, km, offer, "by the universal mechanism; Check measures yours")


def _subtree(session: Session, public_map: PublicMap) -> LocationTree:
    level = min(session.policy.privacy_level, public_map.height)
    subtrees = public_map.subtrees(level)
    if session.real_leaf is None:
        return subtrees[len(subtrees) // 2]
    root = cells.ancestor(session.real_leaf, public_map.leaf_resolution - level)
    return LocationTree(root, level)


def _universal_km(public_map: PublicMap, subtree: LocationTree, epsilon_per_km: float) -> float:
    while subtree.count(0) > MOST_LEAVES:
        subtree = subtree.subtrees(subtree.height - 1)[0]
    table = distances.between_cells(subtree.leaves)
    matrix = exponential_matrix(subtree.leaves, table, epsilon_per_km)
    priors = public_map.priors_below(subtree).probabilities
    return float(priors @ (matrix.probabilities * table).sum(axis=1))
