"""The user's own places: marked on the map, or proposed from her own history."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nicegui import events, ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.job import Job
from geocorgi.device.app.names import bundled_names, nearest_name
from geocorgi.device.app.words import heading, paragraph
from geocorgi.device.attributes.habits import Habits, habits_of
from geocorgi.device.attributes.own_places import (
    OwnPlaces,
    forget_own_places,
    write_own_places,
)
from geocorgi.tree import cells

KINDS = {"home": "Home", "office": "Office"}
ACCEPTED = ".gpx,.csv,.parquet,.txt,.tsv,.gz"


def draw_own(desk: Desk) -> None:
    """Draw the marked places, the proposed ones, and a way to propose."""
    proposed: list[tuple[str, str]] = []

    @ui.refreshable
    def places() -> None:
        own = desk.session.own or OwnPlaces()
        for kind, name in KINDS.items():
            marked = getattr(own, kind)
            said = ", ".join(map(described, marked)) or "not marked"
            ui.label(f"{name}: {said}")
        for kind, cell in proposed:
            _proposal(desk, proposed, (kind, cell))
        if desk.session.own is not None:
            ui.button("Forget my places", on_click=lambda: _forget(desk)).props("outline no-caps")

    heading("Home and office")
    paragraph(
        "Mark them on the map (choose above it what a click says), or have them proposed from a "
        "history of yours (.gpx, .csv, .parquet, .txt). It is read here and not kept.",
        soft=True,
    )
    places()
    desk.drawn_anew.append(places.refresh)

    async def received(event: events.UploadEventArguments) -> None:
        content = await event.file.read()
        upload.reset()
        habits = await desk.run(_inferred(desk, event.file.name, content))
        if habits is not None:
            proposed[:] = _found(desk, habits)
            desk.say(_answer(proposed), good=bool(proposed))
            places.refresh()

    upload = ui.upload(on_upload=received, auto_upload=True, max_files=1).classes("hidden")
    upload.props(f'accept="{ACCEPTED}" aria-hidden="true"')
    ui.button("Propose from my history …", on_click=lambda: upload.run_method("pickFiles")).props(
        "outline no-caps"
    )


def described(cell: str) -> str:
    """Return a cell, and what it is near."""
    near = nearest_name(cells.centre(cell), bundled_names())
    return f"{cell}, near {near}" if near else cell


def _proposal(desk: Desk, proposed: list[tuple[str, str]], one: tuple[str, str]) -> None:
    kind, cell = one

    async def take() -> None:
        proposed.remove(one)
        own = replace(desk.session.own or OwnPlaces(), **{kind: (cell,)})
        await _keep(desk, own, f"{KINDS[kind]} is marked.")

    def leave() -> None:
        proposed.remove(one)
        desk.changed()

    with ui.element("div").classes("row-of"):
        ui.label(f"{KINDS[kind]} seems to be {described(cell)}").classes("grow")
        ui.button(f"Mark as {kind}", on_click=take).props("dense no-caps unelevated")
        ui.button(f"Not my {kind}", on_click=leave).props("outline dense no-caps")


async def _keep(desk: Desk, own: OwnPlaces, said: str) -> None:
    def put() -> None:
        write_own_places(own, desk.session.data)
        desk.session.own = own
        desk.session.forget()

    await desk.use(put, said)


async def _forget(desk: Desk) -> None:
    def put() -> None:
        forget_own_places(desk.session.data)
        desk.session.own = None
        desk.session.forget()

    await desk.use(put, "Your places are forgotten. Rules about them now refuse.")


def _inferred(desk: Desk, name: str, content: bytes) -> Callable[[Job], Habits]:
    """Return the work that reads a history, which lies in a private file for as long as that."""
    public_map = desk.session.public_map
    resolution = 9 if public_map is None else public_map.leaf_resolution

    def work(job: Job) -> Habits:
        from geocorgi.device.attributes.history import read_history  # noqa: PLC0415 - an extra

        job.say("reading your history")
        suffix = "".join(Path(name).suffixes[-2:]).lower()
        handle, path = tempfile.mkstemp(dir=desk.session.data, prefix=".history", suffix=suffix)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            return habits_of(read_history(Path(path), resolution).visits)
        finally:
            Path(path).unlink(missing_ok=True)

    return work


def _found(desk: Desk, habits: Habits) -> list[tuple[str, str]]:
    own = desk.session.own or OwnPlaces()
    pairs = (("home", habits.home), ("office", habits.office))
    return [(kind, cell) for kind, cell in pairs if cell and cell not in getattr(own, kind)]


def _answer(proposed: list[tuple[str, str]]) -> str:
    if proposed:
        return "Proposed from your history: look below and say whether that is right."
    return "The history says nothing new about home or office: mark them on the map."
