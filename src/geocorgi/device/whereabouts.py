"""The real location: the only value that holds it, and it tells it to nobody.

It has no representation, cannot be copied, pickled, compared or formatted, and no codec of this
package knows it. What there is to do with it is to ask in which leaf of a map it lies, which is
the device's business alone. Nothing that it raises says where it is.
"""

from __future__ import annotations

from typing import Any, NoReturn

from geocorgi.device.settling import MARGIN_KM, leaves_near
from geocorgi.errors import InvalidCell, InvalidInput, OutsideTree
from geocorgi.tree import cells
from geocorgi.wire.public_map import PublicMap

WITHHELD = "<whereabouts, withheld>"


class RealLeaf(str):
    """A leaf that is compared and looked up like any other, and shows and copies itself to nobody.

    Whatever prints the values of local variables, as crash reports do, prints that it is withheld.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return WITHHELD

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("a real leaf is neither pickled nor copied")


class Whereabouts:
    """Where the user really is."""

    __slots__ = ("__place",)

    def __init__(self, place: tuple[float, float] | str) -> None:
        """Hold a point (latitude and longitude in degrees) or an H3 cell."""
        self.__place = cells.require_cell(place) if isinstance(place, str) else _point(place)

    def leaf_of(self, public_map: PublicMap) -> RealLeaf:
        """Return the map's leaf in which the user is, or refuse without saying where that is.

        Of a point it is the leaf that contains it. A cell stands for what is below it by
        identifier, so it has to be a leaf or finer than one.
        """
        return require_leaf(self.leaves_near(public_map.leaf_resolution, 0.0)[0], public_map)

    def leaves_near(
        self, leaf_resolution: int, margin_km: float = MARGIN_KM
    ) -> tuple[RealLeaf, ...]:
        """Return the user's leaf, on the map or not, then those that the point is nearly in."""
        place = self.__place
        if not isinstance(place, str):
            return tuple(map(RealLeaf, leaves_near(place, leaf_resolution, margin_km)))
        if cells.resolution_of(place) < leaf_resolution:
            raise InvalidCell("the real location is coarser than the map's leaves: give a point")
        return (RealLeaf(cells.ancestor(place, leaf_resolution)),)

    def __repr__(self) -> str:
        return WITHHELD

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("whereabouts are neither pickled nor copied")

    def __eq__(self, _other: object) -> NoReturn:
        raise TypeError("whereabouts are not compared")

    __hash__ = None  # type: ignore[assignment]


def require_leaf(leaf: str, public_map: PublicMap) -> RealLeaf:
    """Return the leaf if it is one of the map's, or refuse without saying which it is."""
    resolution = public_map.leaf_resolution - public_map.height
    if cells.ancestor(leaf, resolution) not in public_map.roots:
        raise OutsideTree("the real location lies in no leaf of this map")
    return RealLeaf(leaf)


def _point(place: tuple[float, float]) -> tuple[float, float]:
    """Return the point; text is not tried, for a failed conversion's error would repeat it."""
    if len(place) != 2 or not all(isinstance(number, int | float) for number in place):
        raise InvalidInput("a point is two numbers: latitude and longitude in degrees")
    return cells.require_point(*place)
