"""Where the user is: a click, a search, or gpsd; and her own places."""

from __future__ import annotations

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.job import Job
from geocorgi.device.app.parts.own import draw_own
from geocorgi.device.app.searching import Match, search
from geocorgi.device.app.tools import be_at
from geocorgi.device.app.words import heading, paragraph
from geocorgi.device.gpsd import located_by_gpsd
from geocorgi.device.whereabouts import Whereabouts


def draw_place(desk: Desk) -> None:
    """Draw the ways to say where the user is."""
    heading("Where are you?")
    paragraph("Click on the map, or search. It stays on this device, and in no address.", soft=True)
    _search(desk)
    with ui.element("div").classes("row-of"):
        ui.button("Ask my receiver (gpsd)", on_click=lambda: _ask_gpsd(desk)).props(
            "outline no-caps"
        )
    draw_own(desk)


def _search(desk: Desk) -> None:
    found: list[Match] = []

    def take(match: Match) -> None:
        be_at(desk, match.whereabouts)
        found.clear()
        matches.refresh()

    def look() -> None:
        session, text = desk.session, field.value or ""
        public_map = session.public_map
        if public_map is None:
            return
        found[:] = desk.attempt(lambda: search(text, session, public_map)) or []
        if len(found) == 1:
            take(found[0])
        elif not found:
            desk.say(
                "Nothing of that name is known here, and nobody is asked. Coordinates "
                "(37.76, -122.42), a cell, home, or a district's name are.",
                good=False,
            )
        matches.refresh()

    with ui.element("div").classes("row-of"):
        field = ui.input("Coordinates, cell, own place or name").props("outlined dense")
        field.classes("grow").on("keydown.enter", look)
        ui.button("Search", on_click=look).props("no-caps unelevated")

    @ui.refreshable
    def matches() -> None:
        with ui.element("div").classes("row-of").props('role="group" aria-label="What was found"'):
            for match in found:
                label = f"{match.name} ({match.kind})"
                ui.button(label, on_click=lambda match=match: take(match)).props(
                    "outline dense no-caps"
                )

    matches()


async def _ask_gpsd(desk: Desk) -> None:
    address = desk.extras.gpsd

    def work(job: Job) -> Whereabouts:
        job.say(f"waiting for gpsd at {address}")
        return located_by_gpsd(address)

    whereabouts = await desk.run(work)
    if whereabouts is not None:
        be_at(desk, whereabouts)
