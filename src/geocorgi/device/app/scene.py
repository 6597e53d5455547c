"""From the session to what the map shows: cells, what is known of each, and its spoken name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from geocorgi.device.app.names import NamedPlace, nearest_name
from geocorgi.device.app.session import Session
from geocorgi.device.areas import ListedCells
from geocorgi.matrix.protection_radius import protection_radius_km
from geocorgi.pictures.drawing import Circle, Drawing
from geocorgi.pictures.ink import percent
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.wire.public_map import PublicMap

MOST_SHOWN = 2_401


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """What the user wants to look at: all of the map or one cell of it, and the heat or not."""

    root: str | None = None
    heat: bool = True
    circles: tuple[Circle, ...] = ()


def shown_cells(public_map: PublicMap, root: str | None) -> tuple[str, ...]:
    """Return the finest cells, below the root or anywhere, that are not too many to be shown."""
    trees = public_map.trees if root is None else (_below(public_map, root),)
    for level in range(max(tree.height for tree in trees) + 1):
        if sum(tree.count(level) for tree in trees) <= MOST_SHOWN:
            return tuple(cell for tree in trees for cell in tree.nodes(level))
    return tuple(tree.root for tree in trees)[:MOST_SHOWN]


def _below(public_map: PublicMap, root: str) -> LocationTree:
    return LocationTree(root, public_map.leaf_resolution - cells.resolution_of(root))


def scene(session: Session, public_map: PublicMap, view: View) -> Drawing:
    """Return the drawing of what is to be seen now."""
    shown = shown_cells(public_map, view.root)
    known = set(shown)
    return Drawing(
        title=f"Map of {len(shown):,} cells",
        caption="Arrow keys go from cell to cell, Enter chooses one",
        cells=shown,
        shares=_shares(session, shown) if view.heat else None,
        outlined=_outlined(session, public_map, shown),
        crossed={leaf: "; ".join(why) for leaf, why in _removed(session, shown)},
        marked={cell: mark for cell, mark in marks(session).items() if cell in known},
        circles=view.circles,
    )


def _shares(session: Session, shown: tuple[str, ...]) -> Mapping[str, float] | None:
    """Return how likely each shown cell is to hold the report, from where the user is."""
    if session.checked is None or session.real_leaf is None:
        return None
    reported = session.checked.customised.reported
    finest = cells.resolution_of(shown[0])
    rows = cells.resolution_of(reported.row_cells[0])
    row = reported.weights[reported.row_cells.index(cells.ancestor(session.real_leaf, rows))]
    chances = dict(zip(reported.column_cells, (row / row.sum()).tolist(), strict=True))
    coarse = cells.resolution_of(reported.column_cells[0])
    if coarse > finest:
        return None
    return {cell: chances.get(cells.ancestor(cell, coarse), 0.0) for cell in shown}


def _outlined(session: Session, public_map: PublicMap, shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of the privacy level and, where it is coarser than a leaf, the precision."""
    finest = cells.resolution_of(shown[0])
    found = set()
    for level in (session.policy.privacy_level, session.policy.precision_level):
        resolution = public_map.leaf_resolution - level
        if cells.resolution_of(public_map.roots[0]) <= resolution < finest:
            found |= {cells.ancestor(cell, resolution) for cell in shown}
    return tuple(sorted(found))


def _removed(session: Session, shown: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if session.chosen is not None:
        for cell in shown:
            if why := session.chosen.reasons(cell):
                yield cell, why


def marks(session: Session) -> dict[str, str]:
    """Return the words that stand on cells."""
    found = defaultdict(list)
    if session.real_leaf is not None:
        found[str(session.real_leaf)].append("you")
    if session.own is not None:
        for cell in session.own.home:
            found[cell].append("home")
        for cell in session.own.office:
            found[cell].append("office")
    if session.reported is not None:
        found[session.reported.report.cell].append("sent")
    return {cell: ", ".join(words) for cell, words in found.items()}


def painted(session: Session) -> frozenset[str]:
    """Return the cells that were painted to be avoided."""
    areas = session.policy.black_list
    return frozenset(cell for area in areas if isinstance(area, ListedCells) for cell in area.cells)


def spoken_names(
    session: Session, drawing: Drawing, names: tuple[NamedPlace, ...]
) -> dict[str, str]:
    """Return what a screen reader says of each cell."""
    avoided = painted(session)
    found = {}
    for cell in drawing.cells:
        near = nearest_name(cells.centre(cell), names)
        said = [f"cell {cell}" + (f", near {near}" if near else "")]
        if drawing.shares is not None:
            said.append(f"reported with {percent(drawing.shares.get(cell, 0.0))} %")
        if cell in drawing.crossed:
            said.append(f"never reported: {drawing.crossed[cell]}")
        elif cell in avoided:
            said.append("painted to be avoided")
        if cell in drawing.marked:
            said.append(drawing.marked[cell])
        found[cell] = "; ".join(said)
    return found


def two_circles(
    centre: tuple[float, float], epsilon_per_km: float, accurate_km: float | None
) -> tuple[Circle, ...]:
    """Return the circles: protected within, and, where it is known, accurate to."""
    radius = protection_radius_km(epsilon_per_km)
    found = [Circle(centre, radius, f"protected within {1000 * radius:,.0f} m")]
    if accurate_km:
        label = f"accurate to {1000 * accurate_km:,.0f} m"
        found.append(Circle(centre, accurate_km, label, dashed=True))
    return tuple(found)
