"""The map in the page: what a click does, what is looked at, and the key to its signs."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from nicegui import events, ui

from geocorgi.device.app.backdrop import WARNING, TileAddress
from geocorgi.device.app.desk import Desk
from geocorgi.device.app.map_drawing import map_svg, signs_of
from geocorgi.device.app.names import bundled_names
from geocorgi.device.app.scene import scene, spoken_names
from geocorgi.device.app.tools import TOOLS, use_tool
from geocorgi.device.app.words import paragraph
from geocorgi.pictures.drawing import Drawing
from geocorgi.pictures.ink import opacity, percent
from geocorgi.tree import cells

PICK = "(event) => window.geocorgi.pick(event, emit)"
KEY = "(event) => window.geocorgi.key(event, emit)"


def draw_map(desk: Desk) -> None:
    """Draw the map and what goes with it."""
    with ui.element("div").classes("row-of"):
        tool = ui.select(TOOLS, value=desk.tool, label="A click says")
        tool.props("dense outlined options-dense").classes("grow")
        tool.bind_value_to(desk, "tool")
        _views(desk)
    if isinstance(desk.extras.backdrop, TileAddress):
        paragraph(f"Note: {WARNING}", soft=True)
    host = ui.html(sanitize=False).classes("map-host")
    key = ui.html(sanitize=False).classes("w-full")

    async def chosen(event: events.GenericEventArguments) -> None:
        await use_tool(desk, str(event.args))

    host.on("click", chosen, js_handler=PICK)
    host.on("keydown", chosen, js_handler=KEY)

    def draw() -> None:
        drawing = _drawing(desk)
        if drawing is not None:
            host.content = _svg(desk, drawing)
            key.content = _key(drawing)

    draw()
    desk.drawn_anew.append(draw)


def _views(desk: Desk) -> None:
    def look(root: str | None) -> None:
        desk.view = replace(desk.view, root=root)
        desk.changed()

    def closer() -> None:
        session = desk.session
        if session.public_map is None or session.real_leaf is None:
            desk.say(
                "First say where you are: then the map can show the area around you.", good=False
            )
            return
        resolution = session.public_map.leaf_resolution - session.policy.privacy_level
        look(cells.ancestor(session.real_leaf, resolution))

    ui.button("All of it", on_click=lambda: look(None)).props("outline dense no-caps")
    ui.button("My area", on_click=closer).props("outline dense no-caps")


def _drawing(desk: Desk) -> Drawing | None:
    public_map = desk.session.public_map
    return None if public_map is None else scene(desk.session, public_map, desk.view)


def _svg(desk: Desk, drawing: Drawing) -> str:
    spoken = spoken_names(desk.session, drawing, bundled_names())
    leaf = desk.session.real_leaf
    shown = drawing.cells
    first = str(leaf) if leaf in shown else shown[len(shown) // 2]
    backdrop = desk.extras.backdrop
    tiles = backdrop.tiles(shown) if backdrop is not None else ()
    return map_svg(drawing, spoken, first, tiles)


def _key(drawing: Drawing) -> str:
    parts = []
    if drawing.shares is not None:
        steps = [drawing.largest * (step / 4) ** 2 for step in range(5)]
        blocks = "".join(
            f'<i style="opacity:{opacity(one, drawing.largest)}"></i>' for one in steps
        )
        parts.append(
            f'0 %<span class="scale">{blocks}</span>{percent(drawing.largest)} % chance to be sent'
        )
    if drawing.crossed:
        sign = "".join(f'<path class="hatch" d="M{x} 16L{x + 14} 0"/>' for x in range(-8, 34, 7))
        parts.append(f'<svg aria-hidden="true">{sign}</svg>never reported')
    words = {word for mark in drawing.marked.values() for word in mark.split(", ")}
    parts += [f'<b aria-hidden="true">{signs_of(word)}</b>{escape(word)}' for word in sorted(words)]
    leaf = max(map(cells.resolution_of, drawing.cells))
    for resolution in sorted({cells.resolution_of(cell) for cell in drawing.outlined}):
        width = 0.6 + 0.9 * (leaf - resolution)
        line = f'<path class="line" d="M2 8H32" stroke-width="{width:.1f}"/>'
        parts.append(f'<svg aria-hidden="true">{line}</svg>level {leaf - resolution}')
    for circle in drawing.circles:
        dashed = " dashed" if circle.dashed else ""
        ring = f'<circle class="circle{dashed}" cx="17" cy="8" r="6.5"/>'
        parts.append(f'<svg aria-hidden="true">{ring}</svg>{escape(circle.label)}')
    inside = "".join(f'<span class="one">{part}</span>' for part in parts)
    return f'<div class="key">{inside}</div>'
