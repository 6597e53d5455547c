"""Protection in metres, with the two circles beside the epsilon that they mean."""

from __future__ import annotations

from dataclasses import replace

from nicegui import ui

from geocorgi.device.app.accuracy import Accuracy, accuracy_at
from geocorgi.device.app.desk import Desk
from geocorgi.device.app.job import Job
from geocorgi.device.app.scene import two_circles
from geocorgi.device.app.words import facts, heading, paragraph
from geocorgi.device.offers import wished_per_km
from geocorgi.device.policy import Protection
from geocorgi.matrix.protection_radius import FACTOR, epsilon_within, protection_radius_km

LEAST_M, MOST_M = 50, 3_000


def draw_protection(desk: Desk) -> None:
    """Draw the slider, what it means, and the circles on the map."""

    @ui.refreshable
    def protection() -> None:
        heading("How much protection?")
        paragraph(
            "Places within the first circle stay alike: no report makes one more than "
            f"{FACTOR:g} times as likely as another, compared with before. The second circle is "
            "how far off reports are on average.",
            soft=True,
        )
        _Choice(desk)

    protection()
    desk.with_policy(protection.refresh)


class _Choice:
    """The slider and the field beside it, for one policy."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        wished = 1000 * protection_radius_km(wished_per_km(desk.session.policy.protection))
        metres = round(wished)
        with ui.element("div").classes("row-of"):
            self._slider = ui.slider(min=LEAST_M, max=MOST_M, step=10, value=metres)
            self._slider.classes("grow").props('aria-label="Protected within, metres"')
            self._slider.on("change", self._look)
            self._field = ui.number("Metres", value=metres, min=1, on_change=None)
            self._field.props("outlined dense").style("width: 7rem")
            self._field.bind_value(self._slider, "value").on("change", self._look)
        self._said = ui.element("div")
        with ui.element("div").classes("row-of"):
            ui.button("Show the circles", on_click=self._look).props("outline no-caps")
            ui.button("Hide them", on_click=self._hide).props("outline no-caps")
            ui.button("Use this protection", on_click=self._use).props("no-caps unelevated")
        self._show(None)

    def _epsilon(self) -> float:
        return epsilon_within(float(self._field.value or 0) / 1000)

    async def _look(self) -> None:
        desk = self._desk
        epsilon = desk.attempt(self._epsilon)
        public_map = desk.session.public_map
        if epsilon is None or public_map is None:
            return
        session = desk.session

        def work(job: Job) -> Accuracy:
            job.say("measuring how accurate that is")
            return accuracy_at(session, public_map, epsilon)

        found = await desk.run(work)
        if found is not None:
            circles = two_circles(found.middle, found.epsilon_per_km, found.accurate_km)
            desk.view = replace(desk.view, circles=circles)
            self._show(found)
            desk.changed()

    def _hide(self) -> None:
        self._desk.view = replace(self._desk.view, circles=())
        self._desk.changed()

    async def _use(self) -> None:
        desk, metres = self._desk, float(self._field.value or 0)

        def put() -> None:
            wish = Protection(None, metres / 1000)
            desk.session.use_policy(replace(desk.session.policy, protection=wish))

        await desk.use(put, f"Protected within {metres:,.0f} m, from now on.")

    def _show(self, found: Accuracy | None) -> None:
        epsilon = self._desk.attempt(self._epsilon)
        self._said.clear()
        pairs = [] if epsilon is None else [("epsilon", f"{epsilon:.4g} per km wished")]
        if found is not None:
            pairs += [
                ("on offer", found.offer),
                ("protected within", f"{1000 * found.radius_km:,.0f} m (full circle)"),
                ("accurate to", f"{1000 * found.accurate_km:,.0f} m (dashed circle), {found.how}"),
            ]
        with self._said:
            facts(pairs)
