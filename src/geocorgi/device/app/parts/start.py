"""The empty state: no map yet, and three ways to one."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.origin import Origin
from geocorgi.device.app.words import code, heading, paragraph
from geocorgi.device.network.address import ServerAddress
from geocorgi.errors import BadFile

OWN_SERVER = "http://127.0.0.1:8321/"
TRY = "geocorgi-server serve"


def draw_start(desk: Desk) -> None:
    """Draw what to do without a map."""
    known = desk.session.origin

    async def ask_server() -> None:
        address = desk.attempt(lambda: ServerAddress(server.value or "").base)
        if address:
            desk.session.origin = Origin(server=address)
            await desk.fetch()

    async def open_file() -> None:
        path = desk.attempt(lambda: _existing(map_file.value or ""))
        if path:
            desk.session.origin = Origin(map_file=path)
            await desk.fetch()

    with ui.element("div").classes("start"):
        heading("First, a map")
        paragraph(
            "A map says which cells there are and what a server offers over them. It is the same "
            "for everybody, and asking for it does not say where you are."
        )
        heading("From a server")
        with ui.element("div").classes("row-of"):
            usual = known.server if known and known.server else OWN_SERVER
            server = ui.input("Address of the server", value=usual).props("outlined dense")
            server.classes("grow").on("keydown.enter", ask_server)
            ui.button("Connect", on_click=ask_server).props("no-caps unelevated")
        heading("From a file")
        with ui.element("div").classes("row-of"):
            usual = str(known.map_file) if known and known.map_file else ""
            map_file = ui.input("Path of the map, forests beside it", value=usual)
            map_file.props("outlined dense").classes("grow").on("keydown.enter", open_file)
            ui.button("Open", on_click=open_file).props("no-caps unelevated")
        heading("Only trying?")
        paragraph(
            "Run this in another terminal: it serves the map of a made-up city, to this machine "
            "alone. Then press Connect above."
        )
        code(TRY)


def _existing(text: str) -> Path:
    path = Path(text).expanduser()
    if not text.strip() or not path.is_file():
        raise BadFile("there is no such file: give the path of a map, such as maps/map.json")
    return path
