"""The problems that the experiments are about: which places, which targets (Paper: §6.2).

A K that is no power of seven is not a full tree. ``whole_groups`` takes the K / 7 cells of level 1
nearest to the middle of the first subtree, with all their leaves, so that every coarse cell is
whole, the twelve-neighbour graph stays in one piece, and 49 is exactly the first subtree.
``nearest_leaves`` takes the K leaves nearest to that middle.

Targets are "randomly selected from a list of leaf nodes": as many different leaves of the whole
tree, drawn by a seed.
"""

from __future__ import annotations

from collections.abc import Sequence

from geocorgi.errors import InvalidInput
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells
from geocorgi.lab.city import City
from geocorgi.seeded import Chance
from geocorgi.tree import cells, distances
from geocorgi.tree.priors import Priors, restricted, uniform_priors

TARGETS = 49


def whole_groups(city: City, size: int) -> tuple[str, ...]:
    """Return ``size`` leaves, a multiple of seven, in whole groups of a level-1 cell."""
    if size % 7:
        raise InvalidInput(f"whole groups of seven leaves make multiples of seven, not {size}")
    groups = _by_distance(city, city.tree.nodes(1))[: size // 7]
    chosen = set(groups)
    return tuple(leaf for leaf in city.tree.leaves if city.tree.ancestor(leaf, 1) in chosen)


def nearest_leaves(city: City, size: int) -> tuple[str, ...]:
    """Return the leaves nearest to the middle of the first subtree, in the tree's order."""
    chosen = set(_by_distance(city, city.tree.leaves)[:size])
    return tuple(leaf for leaf in city.tree.leaves if leaf in chosen)


def random_targets(city: City, seed: int, count: int = TARGETS) -> Priors:
    """Return the uniform distribution over ``count`` leaves drawn by the seed."""
    chance = Chance(seed)
    drawn = sorted(city.tree.leaves, key=lambda _: chance.uniform())[:count]
    return uniform_priors(tuple(sorted(drawn)))


def instance(
    city: City, leaves: Sequence[str], epsilon_per_km: float, targets_seed: int
) -> ObfuscationProblem:
    """Return the problem on leaves with the city's priors and 49 random targets."""
    priors = restricted(city.priors, leaves)
    return problem_on_cells(leaves, epsilon_per_km, priors, random_targets(city, targets_seed))


def _by_distance(city: City, some: Sequence[str]) -> list[str]:
    latitude, longitude = cells.centre(city.first_subtree.root)
    latitudes, longitudes = cells.centres(some)
    away = distances.haversine_km(latitudes, longitudes, latitude, longitude)
    return [cell for _, cell in sorted(zip(away.tolist(), some, strict=True))]


def paper_leaves(city: City, *, quick: bool) -> tuple[str, ...]:
    """Return the paper's 49 leaves, the first of the tree; the first seven of them if quick."""
    return city.first_subtree.leaves[:7] if quick else city.first_subtree.leaves
