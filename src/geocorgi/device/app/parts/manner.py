"""The rest of a policy: budget, what happens where too much is removed, decoys."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.policy import (
    AtCeiling,
    Budget,
    OnExcess,
    OnUnreachable,
    Policy,
    Precision,
)
from geocorgi.matrix.prunable import Rows

CHOICES: dict[str, tuple[str, dict[StrEnum, str]]] = {
    "rows": (
        "In a removed place",
        {Rows.KEEP: "reports still come from there", Rows.DROP: "nothing is reported from there"},
    ),
    "on_excess": (
        "More removed than any matrix bears",
        {
            OnExcess.UNIVERSAL: "use the universal mechanism",
            OnExcess.FEWER: "give up the last rules first",
            OnExcess.REFUSE: "report nothing",
        },
    ),
    "on_unreachable": (
        "No forest can be had",
        {
            OnUnreachable.REFUSE: "report nothing",
            OnUnreachable.UNIVERSAL: "use the universal mechanism",
        },
    ),
    "precision": (
        "Coarser cells",
        {
            Precision.COARSEN: "draw a leaf, say its ancestor",
            Precision.AVERAGE: "average rows, as in the paper",
        },
    ),
}


def draw_manner(desk: Desk) -> None:
    """Draw it, folded away."""
    unfolded = {"value": False}

    @ui.refreshable
    def manner() -> None:
        policy = desk.session.policy
        fold = ui.expansion("More: budget, and what happens when").props("dense")
        fold.bind_value(unfolded, "value")
        with fold, ui.element("div").classes("part"):
            _Budget(desk, policy.budget)
            for name in CHOICES:
                _choice(desk, name)
            _switch(desk, "decoys", "Hide my removed cells among decoys")
            _switch(desk, "private", "Keep every rule on this device (no public filter)")

    manner()
    desk.with_policy(manner.refresh)


def _choice(desk: Desk, name: str) -> None:
    label, options = CHOICES[name]
    field = ui.select(
        {str(word): said for word, said in options.items()},
        value=str(getattr(desk.session.policy, name)),
        label=label,
    ).props("outlined dense options-dense")

    async def changed() -> None:
        await _use(desk, {name: field.value})

    field.on_value_change(changed)


def _switch(desk: Desk, name: str, said: str) -> None:
    field = ui.switch(said, value=bool(getattr(desk.session.policy, name)))

    async def changed() -> None:
        await _use(desk, {name: bool(field.value)})

    field.on_value_change(changed)


class _Budget:
    """How much epsilon may be spent in how much time."""

    def __init__(self, desk: Desk, budget: Budget) -> None:
        self._desk = desk
        with ui.element("div").classes("row-of"):
            self._ceiling = ui.number("Ceiling, per km", value=budget.ceiling_per_km, min=0)
            self._hours = ui.number("in hours", value=budget.period_hours, min=0)
            self._then = ui.select(
                {"refuse": "then refuse", "repeat": "then repeat the last"},
                value=str(budget.at_ceiling),
                label="At the ceiling",
            )
            for field in (self._ceiling, self._hours, self._then):
                field.props("outlined dense").classes("grow")
            ui.button("Use this budget", on_click=self._use).props("outline no-caps")

    async def _use(self) -> None:
        def put() -> None:
            session = self._desk.session
            budget = Budget(
                float(self._hours.value or 0),
                self._ceiling.value or None,
                AtCeiling(self._then.value or "refuse"),
            )
            session.use_policy(replace(session.policy, budget=budget))

        await self._desk.use(put, "The budget is changed.")


async def _use(desk: Desk, changes: dict[str, object]) -> None:
    def put() -> None:
        policy: Policy = replace(desk.session.policy, **changes)  # type: ignore[arg-type]
        desk.session.use_policy(policy)

    await desk.use(put, "The policy is changed.")
