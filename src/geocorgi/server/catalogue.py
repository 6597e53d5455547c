"""What an operator offers: every wanted combination that every subtree of the map can meet."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from geocorgi.errors import InvalidInput
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.public_map import PublicMap

DELTAS = (0, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Offer:
    """What to combine: levels, deltas, modes; filters and epsilons are the map's own."""

    levels: Sequence[int]
    deltas: Sequence[int] = DELTAS
    rows: Sequence[Rows] = tuple(Rows)


def with_catalogue(public_map: PublicMap, offer: Offer) -> PublicMap:
    """Return the map with its catalogue; combinations that some subtree cannot meet are left out.

    A delta is left out where some subtree has fewer than delta + 2 cells to report, a filter where
    some subtree has none.
    """
    entries = [
        CatalogueEntry(level, name, delta, rows, epsilon)
        for level, name in itertools.product(offer.levels, (None, *public_map.filters))
        for delta in _possible(public_map, level, name, offer.deltas)
        for rows, epsilon in itertools.product(offer.rows, public_map.settings.epsilons_per_km)
    ]
    if not entries:
        raise InvalidInput("no combination of levels, filters and deltas is possible on this map")
    in_order = tuple(sorted(set(entries), key=lambda entry: entry.sort_key))
    return replace(public_map, catalogue=in_order)


def _possible(
    public_map: PublicMap, level: int, name: str | None, deltas: Sequence[int]
) -> list[int]:
    most = public_map.largest_delta(level, name)
    return [delta for delta in deltas if delta <= most]
