"""What a table says of cells, points and areas, as one value for each leaf of the map.

A finer cell and a point count for the leaf around them, a coarser cell for all leaves below it, an
area for the leaves whose centre lies in it. Where several rows count for a leaf it gets: of truths
whether any is true, of numbers the mean, of words the most frequent one (of several the first by
alphabet). A row that cannot be understood is counted and said, and its leaf stays unknown.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from geocorgi.device.attributes.table import Row, Where
from geocorgi.device.attributes.values import AttributeValues
from geocorgi.device.coverage import leaves_named
from geocorgi.device.preferences import LONGEST_TEXT, Value
from geocorgi.device.sources import Source
from geocorgi.device.units import UNITS, Kind
from geocorgi.errors import InvalidInput
from geocorgi.tree import cells
from geocorgi.tree.region import leaves_of_region

TRUTHS = MappingProxyType({"true": True, "false": False, "1": True, "0": False})
UNSAID = frozenset({"", "null", "none", "nan", "na"})


def values_over(rows: Iterable[Row], source: Source, leaves: Sequence[str]) -> AttributeValues:
    """Return the values of the leaves, in the base unit of the source's kind."""
    grid = _Grid(leaves)
    found: defaultdict[str, list[Value]] = defaultdict(list)
    bad = 0
    for where, said in rows:
        if said is None or str(said).strip().casefold() in UNSAID:
            continue
        try:
            value = _value(said, source)
            for leaf in grid.leaves_at(where):
                found[leaf].append(value)
        except (InvalidInput, ValueError, TypeError):
            bad += 1
    values = {leaf: _together(several, source.kind) for leaf, several in found.items()}
    trouble = f"{bad:,} rows of its source cannot be understood" if bad else None
    return AttributeValues(source.kind, values, trouble)


class _Grid:
    """The map's leaves, asked again and again."""

    def __init__(self, leaves: Sequence[str]) -> None:
        self._leaves = leaves
        self._known = frozenset(leaves)
        self._resolution = cells.resolution_of(leaves[0])

    def leaves_at(self, where: Where) -> Iterable[str]:
        if isinstance(where, dict):
            return self._known.intersection(leaves_of_region(where, self._resolution, "center"))
        if isinstance(where, tuple):
            leaf = cells.cell_at(float(where[0]), float(where[1]), self._resolution)
        elif cells.resolution_of(where) < self._resolution:
            return leaves_named([where], self._leaves)
        else:
            leaf = cells.ancestor(where, self._resolution)
        return (leaf,) if leaf in self._known else ()


def _value(said: object, source: Source) -> Value:
    if source.kind is Kind.BOOLEAN:
        word = str(said).strip().casefold().removesuffix(".0")
        if word not in TRUTHS:
            raise InvalidInput("expected true or false")
        return TRUTHS[word]
    if source.kind is Kind.CATEGORY:
        text = str(said).strip()
        if len(text) > LONGEST_TEXT:
            raise InvalidInput("the word is too long")
        return text
    number = math.nan if isinstance(said, bool) else float(str(said))
    if not math.isfinite(number):
        raise InvalidInput("expected a finite number")
    return UNITS[source.unit].in_base(number) if source.unit else number


def _together(several: Sequence[Value], kind: Kind) -> Value:
    if kind is Kind.BOOLEAN:
        return any(several)
    if kind is Kind.CATEGORY:
        counted: Mapping[Value, int] = Counter(several)
        return min(counted, key=lambda word: (-counted[word], str(word)))
    return fmean(float(value) for value in several)
