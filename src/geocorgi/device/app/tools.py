"""What a click on a cell says: here I am, avoid this, here I live, here I work."""

from __future__ import annotations

from dataclasses import replace

from geocorgi.device.app.desk import Desk
from geocorgi.device.areas import ListedCells
from geocorgi.device.attributes.own_places import OwnPlaces, write_own_places
from geocorgi.device.policy import Policy
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.tree import cells

TOOLS = {
    "here": "I am here",
    "avoid": "Never report this cell (again: do)",
    "home": "Here is my home (again: not)",
    "office": "Here is my office (again: not)",
}


async def use_tool(desk: Desk, cell: str) -> None:
    """Do what a click on the cell says."""
    public_map = desk.session.public_map
    if public_map is None or not cells.is_cell(cell):
        return
    if cells.resolution_of(cell) < public_map.leaf_resolution:
        desk.view = replace(desk.view, root=cell)
        desk.changed()
    elif desk.tool == "here":
        be_at(desk, Whereabouts(cell))
    elif desk.tool == "avoid":
        policy = repainted(desk.session.policy, cell)
        await desk.use(lambda: desk.session.use_policy(policy), "The painted cells are changed.")
    else:
        await mark_own(desk, desk.tool, cell)


def be_at(desk: Desk, whereabouts: Whereabouts) -> None:
    """Take this as where the user is."""

    def go() -> bool:
        desk.session.go_to(whereabouts)
        return True

    if desk.attempt(go):
        desk.say("That is where you are. It stays on this device.")
        desk.changed()


def repainted(policy: Policy, cell: str) -> Policy:
    """Return the policy with the cell painted, or no longer painted."""
    others = tuple(area for area in policy.black_list if not isinstance(area, ListedCells))
    listed = {
        one for area in policy.black_list if isinstance(area, ListedCells) for one in area.cells
    }
    listed ^= {cell}
    painted = (ListedCells(tuple(sorted(listed))),) if listed else ()
    return replace(policy, black_list=(*others, *painted))


async def mark_own(desk: Desk, kind: str, cell: str) -> None:
    """Mark a cell as the user's home or office, or no longer."""
    session = desk.session
    before = session.own or OwnPlaces()
    own = replace(before, **{kind: tuple(set(getattr(before, kind)) ^ {cell})})

    def keep() -> None:
        write_own_places(own, session.data)
        session.own = own
        session.forget()

    rule = any(one.variable == kind for one in session.policy.preferences)
    hint = "" if rule else f" The policy does not mention it yet: add '{kind} = False' to it."
    await desk.use(keep, f"Your {kind} is changed, on this device only.{hint}")
