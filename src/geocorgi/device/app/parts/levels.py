"""Privacy level and precision level, chosen by the cells that they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.words import heading, paragraph
from geocorgi.device.policy import Policy
from geocorgi.tree import cells
from geocorgi.wire.public_map import PublicMap


def draw_levels(desk: Desk) -> None:
    """Draw the two choices; the map outlines what they come to."""

    @ui.refreshable
    def levels() -> None:
        public_map, policy = desk.session.public_map, desk.session.policy
        if public_map is None:
            return
        heading("Hidden where, and how precisely?")
        paragraph("The map outlines the cells of both levels as you choose.", soft=True)
        _choice(desk, "Privacy level", hiding(public_map), policy.privacy_level, _with_privacy)
        fitting = {
            level: said
            for level, said in reporting(public_map).items()
            if level < policy.privacy_level
        }
        _choice(desk, "Precision level", fitting, policy.precision_level, _with_precision)

    levels()
    desk.with_policy(levels.refresh)


def hiding(public_map: PublicMap) -> dict[int, str]:
    """Return the privacy levels on offer, and what each hides the user among."""
    offered = sorted({entry.privacy_level for entry in public_map.catalogue})
    found = {}
    for level in offered or range(1, public_map.height + 1):
        most = max(tree.count(0) for tree in public_map.subtrees(level))
        across = _across(public_map, level)
        found[level] = f"{level}: hidden among {most} cells, an area of about {across}"
    return found


def reporting(public_map: PublicMap) -> dict[int, str]:
    """Return the precision levels, and how large a reported cell is."""
    return {
        level: f"{level}: a cell of about {_across(public_map, level)} is reported"
        for level in range(public_map.height)
    }


def _across(public_map: PublicMap, level: int) -> str:
    km = cells.average_spacing_km(public_map.leaf_resolution - level)
    return f"{km:.1f} km across" if km >= 1 else f"{1000 * km:.0f} m across"


def _with_privacy(policy: Policy, level: int) -> Policy:
    return replace(
        policy, privacy_level=level, precision_level=min(policy.precision_level, level - 1)
    )


def _with_precision(policy: Policy, level: int) -> Policy:
    return replace(policy, precision_level=level)


def _choice(
    desk: Desk,
    label: str,
    options: dict[int, str],
    value: int,
    changed: Callable[[Policy, int], Policy],
) -> None:
    async def choose() -> None:
        if field.value is not None and field.value != value:
            session = desk.session
            policy = desk.attempt(lambda: changed(session.policy, int(field.value)))
            if policy is not None:
                await desk.use(lambda: session.use_policy(policy), f"{label} {field.value}.")

    known = value if value in options else None
    field = ui.select(options, value=known, label=label, on_change=choose)
    field.props("outlined dense options-dense").mark(label)
