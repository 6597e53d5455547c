"""The report: for whom, what was sent, what it cost."""

from __future__ import annotations

import json

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.words import facts, heading, paragraph, sentences
from geocorgi.device.app.work import Wish, report
from geocorgi.device.obfuscate import ANYBODY, Obfuscated
from geocorgi.device.report import geojson


def draw_report(desk: Desk) -> None:
    """Draw the button and what comes of it."""
    heading("Report")
    paragraph(
        "One cell is drawn for where you are, by your policy. The same place is answered with the "
        "same cell, free of charge.",
        soft=True,
    )
    with ui.element("div").classes("row-of"):
        recipient = ui.input("For whom (a label of your own)", value=desk.session.recipient)
        recipient.props("outlined dense").classes("grow")
        anew = ui.checkbox("Draw anew, and pay for it")

    async def press() -> None:
        await _report(desk, Wish(recipient.value or ANYBODY, anew=bool(anew.value)))

    ui.button("Report", on_click=press).props("no-caps unelevated size=lg").mark("report")

    @ui.refreshable
    def result() -> None:
        if desk.session.reported is not None:
            _show(desk.session.reported)

    result()
    desk.drawn_anew.append(result.refresh)


async def _report(desk: Desk, wish: Wish) -> None:
    session = desk.session
    if session.origin is None or session.whereabouts is None:
        desk.say("First say where you are: click on the map, or search.", good=False)
        return
    work = report(session.door, session.origin, session.policy, session.whereabouts, wish)
    found = await desk.run(work)
    if found is not None:
        session.recipient = wish.recipient
        session.reported = found
        desk.say(f"Reported to {wish.recipient}: {found.report.cell}.")
        desk.changed()


def _promise(found: Obfuscated) -> str:
    guarantee = found.guarantee
    if guarantee.narrower:
        return "less than that of a fresh report: read on"
    word = "holds" if guarantee.holds else "does not hold"
    return (
        f"{guarantee.promised_per_km:g} per km {word}; truly needed: "
        f"{guarantee.between_leaves_per_km:.6g}"
    )


def _show(found: Obfuscated) -> None:
    given, guarantee = found.given, found.guarantee
    latitude, longitude = found.report.centre
    ui.label(found.report.cell).classes("big-number")
    how = "drawn and charged now" if given.fresh else "drawn for this place before: free"
    if given.repeated:
        how = "the last report once more: the budget is at its ceiling"
    ceiling = given.balance.budget.ceiling_per_km
    of = "" if ceiling is None else f" of {ceiling:g}"
    facts(
        [
            ("level", str(found.report.level)),
            ("its centre", f"{latitude:.6f}, {longitude:.6f}"),
            ("this one", how),
            ("promise", _promise(found)),
            ("spent", f"{given.balance.spent_per_km:g}{of} per km"),
        ]
    )
    sentences(guarantee.exceptions)
    content = json.dumps(geojson(found.report), indent=2)
    ui.button(
        "Save what was sent (GeoJSON)",
        on_click=lambda: ui.download.content(content, "report.geojson", "application/geo+json"),
    ).props("outline no-caps")
