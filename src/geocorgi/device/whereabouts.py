"""The real location: the only value that holds it, and it tells it to nobody.

It has no representation, cannot be copied, pickled, compared or formatted, and no codec of this
package knows it. What there is to do with it is to ask in which leaf of a map it lies, which is
the device's business alone. Nothing that it raises says where it is.
"""

from __future__ import annotations

from typing import Any, NoReturn

from geocorgi.device import settling
from geocorgi.errors import InvalidCell, InvalidInput, OutsideTree
from geocorgi.tree import cells
from geocorgi.wire.public_map import PublicMap

WITHHELD = "<whereabouts, withheld>"


class Whereabouts:
    """Where the user really is."""

    __slots__ = ("__place",)

    def __init__(self, place: tuple[float, float] | str) -> None:
        """Hold a point (latitude and longitude in degrees) or an H3 cell."""
        self.__place = cells.require_cell(place) if isinstance(place, str) else _point(place)

    def leaf_of(self, public_map: PublicMap) -> str:
        """Return the map's leaf in which the user is, or refuse without saying where that is.

        Of a point it is the leaf that contains it. A cell stands for what is below it by
        identifier, so it has to be a leaf or finer than one.
        """
        place, resolution = self.__place, public_map.leaf_resolution
        if not isinstance(place, str):
            leaf = cells.cell_at(*place, resolution)
        elif cells.resolution_of(place) >= resolution:
            leaf = cells.ancestor(place, resolution)
        else:
            raise InvalidCell("the real location is coarser than the map's leaves: give a point")
        if cells.ancestor(leaf, resolution - public_map.height) not in public_map.roots:
            raise OutsideTree("the real location lies in no leaf of this map")
        return leaf

    def leaves_near(self, public_map: PublicMap, margin_km: float) -> tuple[str, ...]:
        """Return the leaf in which the user is, and then the map's leaves that are near the point.

        What to settle on (:mod:`geocorgi.device.settling`); a cell is near to nothing else.
        """
        own, place = self.leaf_of(public_map), self.__place
        if isinstance(place, str):
            return (own,)
        coarsest = public_map.leaf_resolution - public_map.height
        near = settling.leaves_near(place, public_map.leaf_resolution, margin_km)
        return tuple(leaf for leaf in near if cells.ancestor(leaf, coarsest) in public_map.roots)

    def __repr__(self) -> str:
        return WITHHELD

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("whereabouts are neither pickled nor copied")

    def __eq__(self, _other: object) -> NoReturn:
        raise TypeError("whereabouts are not compared")

    __hash__ = None  # type: ignore[assignment]


def _point(place: tuple[float, float]) -> tuple[float, float]:
    """Return the point; text is not tried, for a failed conversion's error would repeat it."""
    if len(place) != 2 or not all(isinstance(number, int | float) for number in place):
        raise InvalidInput("a point is two numbers: latitude and longitude in degrees")
    return cells.require_point(*place)
