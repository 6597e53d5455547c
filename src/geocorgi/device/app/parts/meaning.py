"""What a policy comes to: S and why, δ, what others learn, and what truly holds where she is."""

from __future__ import annotations

import json

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.words import code, facts, heading, paragraph, sentences, table
from geocorgi.device.app.work import Checked, Chosen, check
from geocorgi.device.selection import Mechanism
from geocorgi.matrix.protection_radius import protection_radius_km
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.wire.forest_request import request_fields

MOST_ROWS = 100


def draw_meaning(desk: Desk) -> None:
    """Draw what is known of the policy so far."""

    @ui.refreshable
    def meaning() -> None:
        chosen = desk.session.chosen
        if chosen is None:
            heading("What it comes to")
            paragraph(
                "Nothing yet: the line at the top says what stands in the way. Change the policy "
                "and it is looked at again."
            )
            return
        _asked(chosen)
        _removed(desk, chosen)
        _here(desk)
        for title, said in (
            ("The server learns, and nothing else", chosen.server_learns),
            ("Who gets a report learns", chosen.recipient_learns),
            ("Not guaranteed", chosen.not_guaranteed),
        ):
            heading(title)
            sentences(said)

    meaning()
    desk.drawn_anew.append(meaning.refresh)


def _asked(chosen: Chosen) -> None:
    selection = chosen.selection
    request = selection.request
    heading("What is asked of the server")
    mechanism = "the forest's"
    if selection.mechanism is Mechanism.UNIVERSAL:
        mechanism = "the universal mechanism's; the forest is fetched all the same, and not used"
    facts(
        [
            (
                "δ",
                f"{request.delta}: of any one area of the map the rules take at most "
                f"{selection.needed_delta}, wherever you are",
            ),
            ("filter", request.filter or "none"),
            (
                "epsilon",
                f"{request.epsilon_per_km:g} per km: protected within "
                f"{1000 * protection_radius_km(request.epsilon_per_km):,.0f} m",
            ),
            ("matrix", mechanism),
        ]
    )
    paragraph("The question, letter for letter; it is the same wherever you are:", soft=True)
    code(json.dumps(request_fields(request), ensure_ascii=False, indent=1))


def _removed(desk: Desk, chosen: Chosen) -> None:
    selection = chosen.selection
    heading("What is never reported")
    rules = [*selection.removal.rules, *selection.set_aside]
    if not rules and not selection.never_reported:
        paragraph("Nothing is removed: every cell of your area may be reported.")
        return
    rows = [
        (
            rule.reason,
            f"{len(rule.removes):,}",
            "not kept: too much would leave" if rule in selection.set_aside else rule.note or "",
        )
        for rule in rules
    ]
    if selection.decoys:
        rows.append(("decoys, by this device's secret", f"{len(selection.decoys):,}", ""))
    table("Rules, and how many cells of the whole map each removes",
          ("rule", "cells", "note"), rows)  # fmt: skip
    leaves = _area(desk)
    removed = [(leaf, "; ".join(why)) for leaf in leaves if (why := chosen.reasons(leaf))]
    if leaves:
        caption = f"S in your area: {len(removed)} of {len(leaves)} cells, hatched on the map"
        table(caption, ("cell", "why"), removed[:MOST_ROWS])
        if len(removed) > MOST_ROWS:
            paragraph(f"… and {len(removed) - MOST_ROWS} more, on the map", soft=True)
    else:
        paragraph("Say where you are to see the cells of your own area one by one.", soft=True)


def _area(desk: Desk) -> tuple[str, ...]:
    session = desk.session
    if session.real_leaf is None or session.public_map is None:
        return ()
    level = session.policy.privacy_level
    root = cells.ancestor(session.real_leaf, session.public_map.leaf_resolution - level)
    return LocationTree(root, level).leaves


def _here(desk: Desk) -> None:
    heading("What truly holds where you are")

    async def press() -> None:
        await check_here(desk)

    checked = desk.session.checked
    if checked is None:
        paragraph(
            "The forest is fetched and judged as for a report. Nothing is drawn, charged or kept; "
            "the map then shows where you may be reported.",
            soft=True,
        )
    else:
        _show(checked)
    ui.button("Check", on_click=press).props("no-caps unelevated").mark("check")


async def check_here(desk: Desk) -> None:
    """Fetch, judge and measure; the heat map follows."""
    session = desk.session
    if session.origin is None or session.real_leaf is None:
        desk.say("First say where you are: click on the map, or search.", good=False)
        return
    level = session.policy.precision_for(session.recipient)
    work = check(session.door, session.origin, session.policy, level, session.real_leaf)
    found = await desk.run(work)
    if found is not None:
        session.checked = found
        desk.say("Checked. The map shows where you may be reported, and how often.")
        desk.changed()


def _show(checked: Checked) -> None:
    here = checked.explanation.here
    if here is None:
        return
    guarantee, worth = here.guarantee, here.usefulness
    word = "holds" if guarantee.holds else "does not hold"
    if guarantee.void:
        word = "is void"
    facts(
        [
            (
                "true epsilon",
                f"{guarantee.between_leaves_per_km:.6g} per km after your changes; "
                f"{guarantee.promised_per_km:g} was asked for: it {word}",
            ),
            ("accurate to", f"{worth.mean_distance_m:,.0f} m on average"),
            (
                "best adversary",
                f"still errs by {worth.adversary_m:,.0f} m; by {worth.adversary_before_m:,.0f} m "
                "before a report",
            ),
            ("matrix", str(checked.explanation.mechanism)),
        ]
    )
    sentences(guarantee.exceptions)
