"""Finding a place by what was typed: coordinates, a cell, an own place, a bundled name.

Nothing is asked of anybody: what is not known here is not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from geocorgi.device.app.names import bundled_names
from geocorgi.device.app.session import Session
from geocorgi.device.attributes.own_places import OwnPlaces
from geocorgi.device.locating import located
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import InvalidInput
from geocorgi.tree import cells
from geocorgi.wire.public_map import PublicMap

MOST_FOUND = 12


@dataclass(frozen=True, slots=True)
class Match:
    """Something that was found: its name, what it is, and the place."""

    name: str
    kind: str
    whereabouts: Whereabouts


def search(text: str, session: Session, public_map: PublicMap) -> tuple[Match, ...]:
    """Return what on the map is meant by the text, the surest first."""
    wanted = text.strip()
    if not wanted:
        return ()
    exact = _point_or_cell(wanted)
    if exact is not None:
        return (exact,)
    found = [match for match in _named(wanted.casefold(), session) if _covered(match, public_map)]
    return tuple(sorted(found, key=lambda match: _order(match, wanted.casefold()))[:MOST_FOUND])


def _point_or_cell(text: str) -> Match | None:
    try:
        whereabouts = located(text)
    except InvalidInput:
        return None
    return Match(text, "cell" if cells.is_cell(text) else "coordinates", whereabouts)


def _named(text: str, session: Session) -> Iterator[Match]:
    for name, kind, place in _known(session):
        if text in name.casefold():
            yield Match(name, kind, Whereabouts(place))


def _known(session: Session) -> Iterator[tuple[str, str, tuple[float, float] | str]]:
    """Yield every name that is known here: the user's own, her policy's, the bundled ones."""
    own = session.own or OwnPlaces()
    for kind, marked in (("home", own.home), ("office", own.office)):
        yield from ((kind, "your own place", cell) for cell in marked)
    for name, place in session.policy.places.items():
        yield name, "a place of your policy", (place.latitude, place.longitude)
    for named in bundled_names():
        yield named.name, "about its middle", (named.latitude, named.longitude)


def _covered(match: Match, public_map: PublicMap) -> bool:
    resolution = public_map.leaf_resolution
    leaf = match.whereabouts.leaves_near(resolution, 0.0)[0]
    return cells.ancestor(leaf, resolution - public_map.height) in public_map.roots


def _order(match: Match, text: str) -> tuple[bool, bool, str]:
    name = match.name.casefold()
    return name != text, not name.startswith(text), name
