"""The public map: geography, priors, filters and catalogue, the same for everyone.

A map is one or several location trees of one shape, what is publicly known about their leaves,
the server's settings (Paper: the footnote to Alg. 3: epsilon and iterations are universal), and
what the server offers over them. Its name is its content (:mod:`geocorgi.wire.map_codec`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMessage
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.geo_ind import MOST_CELLS
from geocorgi.tree import cells
from geocorgi.tree.location_tree import MOST_LEAVES, LocationTree
from geocorgi.tree.priors import Priors, restricted
from geocorgi.wire import canonical
from geocorgi.wire.catalogue import CatalogueEntry, require_name
from geocorgi.wire.predicate import Predicate, passing, require_predicate
from geocorgi.wire.shard import Shard

MOST_ENTRIES = 10_000
MOST_FILTERS = 100
MOST_ATTRIBUTES = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """How every matrix of the map is generated: never limited by the clock, so bytes are equal.

    ``gap`` is the share of the loss at which the search for better matrices stops, ``work`` the
    number of pricing problems after which it stops anyway.
    """

    epsilons_per_km: tuple[float, ...]
    gap: float = 1e-3
    work: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no generator could follow."""
        epsilons = tuple(require_epsilon(epsilon) for epsilon in self.epsilons_per_km)
        if not epsilons or list(epsilons) != sorted(set(epsilons)):
            raise InvalidMessage("the map's epsilons are one or more, ascending, each once")
        object.__setattr__(self, "epsilons_per_km", epsilons)
        if not (isinstance(self.gap, float) and 0 <= self.gap < 1):
            raise InvalidMessage("a gap is a share from 0 to below 1, such as 0.001")
        if self.work is not None and not (canonical.is_whole(self.work) and self.work > 0):
            raise InvalidMessage("work is a positive whole number of pricing problems")


@dataclass(frozen=True, slots=True, eq=False)
class PublicMap:
    """What server and device both know.

    ``priors`` has the leaves of all roots, in order. ``targets`` are None where every leaf of the
    user's subtree is as likely a target as every other. ``attributes`` are public numbers, one a
    leaf; ``filters`` name the leaves that pass, and ``predicates`` say of a filter why those: a
    filter that has none is the server's word. Everything comes in ascending order. ``shard`` is
    None where the map is of the whole region.
    """

    roots: tuple[str, ...]
    height: int
    priors: Priors
    settings: Settings
    catalogue: tuple[CatalogueEntry, ...] = ()
    targets: Priors | None = None
    attributes: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    shard: Shard | None = None

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        object.__setattr__(self, "roots", _require_roots(self.roots, self.height))
        leaves = self.leaves
        if self.priors.cells != leaves:
            raise InvalidMessage("the map's priors are not one for each leaf, in the leaves' order")
        if self.targets is not None and list(self.targets.cells) != sorted(self.targets.cells):
            raise InvalidMessage("the map's targets do not stand in ascending order")
        filters = {name: _filter(name, passing, leaves) for name, passing in self.filters.items()}
        values = {name: _values(name, row, leaves) for name, row in self.attributes.items()}
        if len(filters) > MOST_FILTERS or len(values) > MOST_ATTRIBUTES:
            raise InvalidMessage(
                f"a map has at most {MOST_FILTERS} filters and {MOST_ATTRIBUTES} attributes"
            )
        object.__setattr__(self, "filters", MappingProxyType(filters))
        object.__setattr__(self, "attributes", MappingProxyType(values))
        object.__setattr__(
            self, "predicates", _predicates(self.predicates, filters, values, leaves)
        )
        object.__setattr__(self, "catalogue", tuple(self.catalogue))
        if self.shard is not None and not set(self.roots) < set(self.shard.roots_of_region):
            raise InvalidMessage("a shard has some of its region's roots, not all and no others")
        _require_catalogue(self)

    @property
    def trees(self) -> tuple[LocationTree, ...]:
        """The location trees."""
        return tuple(LocationTree(root, self.height) for root in self.roots)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaves of all trees."""
        return tuple(leaf for tree in self.trees for leaf in tree.leaves)

    @property
    def leaf_resolution(self) -> int:
        """The H3 resolution of the leaves."""
        return cells.resolution_of(self.roots[0]) + self.height

    def subtrees(self, level: int) -> tuple[LocationTree, ...]:
        """Return the subtrees at a privacy level (Paper: Alg. 3, steps 2 to 6)."""
        return tuple(subtree for tree in self.trees for subtree in tree.subtrees(level))

    def priors_below(self, subtree: LocationTree) -> Priors:
        """Return the subtree's own priors (Paper: Alg. 3, step 7, getPriorProbDist)."""
        return restricted(self.priors, subtree.leaves)

    def reportable(self, name: str | None, subtree: LocationTree) -> tuple[str, ...]:
        """Return the leaves of a subtree that pass a filter; None passes them all."""
        if name is None:
            return subtree.leaves
        if name not in self.filters:
            raise InvalidMessage("the map has no filter of the name asked for")
        passing = frozenset(self.filters[name])
        return tuple(leaf for leaf in subtree.leaves if leaf in passing)

    def largest_delta(self, level: int, name: str | None) -> int:
        """Return how many columns any subtree can lose, −1 if some subtree has none at all."""
        least = _least_columns(self, level, name)
        return max(least - 2, 0) if least else -1


def _require_roots(roots: Sequence[str], height: int) -> tuple[str, ...]:
    roots = tuple(cells.require_cell(root) for root in roots)
    if not roots or list(roots) != sorted(set(roots)):
        raise InvalidMessage("a map has one or more roots, ascending, each once")
    if len({cells.resolution_of(root) for root in roots}) != 1:
        raise InvalidMessage("the map's roots are of different resolutions")
    trees = [LocationTree(root, height) for root in roots]
    if not height or sum(tree.count(0) for tree in trees) > MOST_LEAVES:
        raise InvalidMessage(f"a map has a height from 1 on and at most {MOST_LEAVES:,} leaves")
    return roots


def _filter(name: str, passing: Sequence[str], leaves: Sequence[str]) -> tuple[str, ...]:
    require_name(name, "filter")
    passing = tuple(passing)
    if list(passing) != sorted(set(passing)) or not set(passing) <= set(leaves):
        raise InvalidMessage(f"the filter '{name}' does not name leaves of the map, ascending")
    return passing


def _predicates(
    predicates: Mapping[str, Predicate],
    filters: Mapping[str, tuple[str, ...]],
    attributes: Mapping[str, NDArray[np.float64]],
    leaves: Sequence[str],
) -> Mapping[str, Predicate]:
    if not predicates.keys() <= filters.keys():
        raise InvalidMessage("the map says of a filter that it does not have what passes it")
    for name, predicate in predicates.items():
        if passing(require_predicate(predicate), attributes, leaves) != filters[name]:
            raise InvalidMessage(f"the cells of the filter '{name}' are not those that pass it")
    return MappingProxyType({name: tuple(one) for name, one in predicates.items()})


def _values(
    name: str, row: NDArray[np.float64] | Sequence[float], leaves: Sequence[str]
) -> NDArray[np.float64]:
    require_name(name, "attribute")
    values = np.array(row, dtype=np.float64)
    if values.shape != (len(leaves),) or not np.isfinite(values).all():
        raise InvalidMessage(f"the attribute '{name}' is not one finite number for each leaf")
    values.setflags(write=False)
    return values


def _least_columns(public_map: PublicMap, level: int, name: str | None) -> int:
    subtrees = public_map.subtrees(level)
    if name is None:
        return min(subtree.count(0) for subtree in subtrees)
    resolution = cells.resolution_of(subtrees[0].root)
    counted = Counter(cells.ancestor(leaf, resolution) for leaf in public_map.filters[name])
    return min(counted[subtree.root] for subtree in subtrees)


def _require_catalogue(public_map: PublicMap) -> None:
    entries = public_map.catalogue
    if len(entries) > MOST_ENTRIES:
        raise InvalidMessage(f"a catalogue has at most {MOST_ENTRIES:,} entries")
    if list(entries) != sorted(set(entries), key=lambda entry: entry.sort_key):
        raise InvalidMessage("the catalogue is not in its order, each entry once")
    for entry in entries:
        if entry.privacy_level > public_map.height:
            raise InvalidMessage("the catalogue offers a privacy level that the map does not have")
        if entry.filter is not None and entry.filter not in public_map.filters:
            raise InvalidMessage("the catalogue offers a filter that the map does not have")
        if entry.epsilon_per_km not in public_map.settings.epsilons_per_km:
            raise InvalidMessage("the catalogue offers an epsilon that the map does not have")
    for level, name in {(entry.privacy_level, entry.filter) for entry in entries}:
        _require_columns(public_map, level, name)


def _require_columns(public_map: PublicMap, level: int, name: str | None) -> None:
    if max(subtree.count(0) for subtree in public_map.subtrees(level)) > MOST_CELLS:
        raise InvalidMessage(f"a subtree of level {level} has more than {MOST_CELLS:,} leaves")
    most = public_map.largest_delta(level, name)
    for entry in public_map.catalogue:
        if (entry.privacy_level, entry.filter) == (level, name) and entry.delta > most:
            raise InvalidMessage(
                f"the catalogue offers delta {entry.delta} at level {level}, where some subtree "
                f"allows {'no matrix' if most < 0 else f'no more than {most}'}"
            )
