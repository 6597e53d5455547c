"""Which leaves an area of a black or white list touches or holds.

Round areas are measured, not drawn, so that they work at the poles and across the antimeridian:
a leaf counts as touched when its farthest corner could reach into the circle.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from geocorgi.device.areas import Area, Around, ListedCells, Polygon
from geocorgi.device.policy import Policy
from geocorgi.errors import InvalidRegion
from geocorgi.matrix.pruning import leaves_below
from geocorgi.tree import cells, distances
from geocorgi.tree.region import leaves_of_region


def leaves_touched(area: Area, policy: Policy, leaves: Sequence[str]) -> frozenset[str]:
    """Return the leaves of which any part may lie in the area."""
    if isinstance(area, ListedCells):
        return leaves_named(area.cells, leaves)
    if isinstance(area, Polygon):
        return _drawn(area, leaves, "overlap")
    away = _away_km(area, policy, leaves)
    reach = np.array([_reach_km(leaf) for leaf in leaves])
    return _chosen(leaves, away <= area.radius_km + reach)


def leaves_in(area: Area, policy: Policy, leaves: Sequence[str]) -> frozenset[str]:
    """Return the leaves whose centre lies in the area."""
    if isinstance(area, ListedCells):
        return leaves_named(area.cells, leaves)
    if isinstance(area, Polygon):
        return _drawn(area, leaves, "center")
    return _chosen(leaves, _away_km(area, policy, leaves) <= area.radius_km)


def leaves_named(named: Iterable[str], leaves: Sequence[str]) -> frozenset[str]:
    """Return the leaves that cells stand for: those below coarser ones, the one around a finer."""
    finest = cells.resolution_of(leaves[0])
    rules = [cells.ancestor(cell, min(finest, cells.resolution_of(cell))) for cell in named]
    return frozenset(leaves_below(rules, leaves))


def _drawn(
    area: Polygon, leaves: Sequence[str], contain: Literal["overlap", "center"]
) -> frozenset[str]:
    geojson, resolution = json.loads(area.geojson), cells.resolution_of(leaves[0])
    try:
        return frozenset(leaves_of_region(geojson, resolution, contain)).intersection(leaves)
    except InvalidRegion as refusal:
        raise area.refused(str(refusal)) from None


def _away_km(area: Around, policy: Policy, leaves: Sequence[str]) -> NDArray[np.float64]:
    place = policy.places[area.place]
    return distances.haversine_km(place.latitude, place.longitude, *cells.centres(leaves))


def _reach_km(leaf: str) -> float:
    latitude, longitude = cells.centre(leaf)
    corners = np.array(cells.boundary(leaf))
    return float(distances.haversine_km(latitude, longitude, corners[:, 0], corners[:, 1]).max())


def _chosen(leaves: Sequence[str], which: NDArray[np.bool_]) -> frozenset[str]:
    return frozenset(leaf for leaf, chosen in zip(leaves, which.tolist(), strict=True) if chosen)
