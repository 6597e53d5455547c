"""The page: the map on one side, on the other what the user says and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from nicegui import ui

from geocorgi.device.app.desk import Desk, Extras, News
from geocorgi.device.app.map_view import draw_map
from geocorgi.device.app.parts.history import draw_history
from geocorgi.device.app.parts.meaning import draw_meaning
from geocorgi.device.app.parts.place import draw_place
from geocorgi.device.app.parts.policy import draw_policy
from geocorgi.device.app.parts.report import draw_report
from geocorgi.device.app.parts.start import draw_start
from geocorgi.device.app.session import Session
from geocorgi.device.app.words import heading, paragraph

TABS: dict[str, Callable[[Desk], None]] = {
    "Where": draw_place,
    "Policy": draw_policy,
    "Meaning": draw_meaning,
    "Report": draw_report,
    "History": draw_history,
}


def page_of(session: Session, extras: Extras) -> Callable[[], None]:
    """Return what draws the page in a window."""

    def draw() -> None:
        expects_map = session.origin is not None and session.public_map is None
        desk = Desk(session, extras, expects_map=expects_map)
        _dress()
        _top(desk)
        desk.news = News(desk)
        _body(desk)
        if expects_map:
            ui.timer(0.05, desk.fetch, once=True)
        elif session.public_map is not None and session.chosen is None:
            ui.timer(0.05, desk.choose, once=True)

    return draw


def _dress() -> None:
    folder = files("geocorgi.device.app") / "data"
    ui.add_css((folder / "page.css").read_text(encoding="utf-8"))
    ui.add_body_html(f"<script>{(folder / 'page.js').read_text(encoding='utf-8')}</script>")
    ui.colors(primary="#0b6e99")


def _top(desk: Desk) -> None:
    dark = ui.dark_mode(None)
    with ui.element("header").classes("top").props('role="banner"'):
        ui.html("geocorgi", tag="h1", sanitize=False)

        @ui.refreshable
        def source() -> None:
            origin = desk.session.origin
            ui.label(f"map from {origin}" if origin else "no map yet").classes("from")

        source()
        desk.drawn_anew.append(source.refresh)
        looks = ui.select({None: "Auto", False: "Light", True: "Dark"}, value=None, label="Looks")
        looks.bind_value_to(dark, "value").props("dense outlined options-dense").style(
            "width: 7rem"
        )


def _body(desk: Desk) -> None:
    def state() -> str:
        if desk.session.public_map is not None:
            return "map"
        return "expected" if desk.expects_map else "none"

    shown = state()

    @ui.refreshable
    def body() -> None:
        if shown == "map":
            _board(desk)
        elif shown == "none":
            draw_start(desk)
        else:
            with ui.element("div").classes("start"):
                heading("The map is on its way")
                paragraph("It is the same for everybody and does not say where you are.")

    def when_it_changes() -> None:
        nonlocal shown
        if shown != state():
            shown = state()
            kept = desk.drawn_anew.index(when_it_changes) + 1
            del desk.drawn_anew[kept:]
            body.refresh()

    desk.drawn_anew.append(when_it_changes)
    with ui.element("div").style("width: 100%"):
        body()


def _board(desk: Desk) -> None:
    with ui.element("div").classes("board"):
        with ui.element("section").classes("ground").props('aria-label="Map"'):
            draw_map(desk)
        with ui.element("section").classes("panel").props('aria-label="Your policy and reports"'):
            with ui.tabs().props("dense no-caps inline-label outside-arrows mobile-arrows") as tabs:
                for name in TABS:
                    ui.tab(name)
            with (
                ui.tab_panels(tabs, value="Where", keep_alive=True)
                .classes("w-full")
                .style("background: transparent")
            ):
                for name, part in TABS.items():
                    with ui.tab_panel(name).style("padding: 0"), ui.element("div").classes("part"):
                        part(desk)
