"""What is never reported: switches for one's own places, and rules put together from a form."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.scene import painted
from geocorgi.device.app.words import heading, paragraph
from geocorgi.device.notation import parse_preference
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import DISTANCE, PERSONAL, Operator, Preference

OWN = {"home": "my home", "office": "my office", "outlier": "places where I was once, at night"}


def draw_preferences(desk: Desk) -> None:
    """Draw the rules of the policy, and a form for one more."""

    @ui.refreshable
    def rules() -> None:
        heading("Never report")
        for name, said in OWN.items():
            _own_switch(desk, name, said)
        for preference in desk.session.policy.preferences:
            if preference not in _own_rules():
                _rule(desk, preference)
        _painted(desk)
        _one_more(desk)

    rules()
    desk.with_policy(rules.refresh)


def _own_rules() -> tuple[Preference, ...]:
    return tuple(parse_preference(f"{name} = False") for name in OWN)


def _own_switch(desk: Desk, name: str, said: str) -> None:
    rule = parse_preference(f"{name} = False")

    async def switched() -> None:
        others = tuple(one for one in desk.session.policy.preferences if one != rule)
        wanted = (*others, rule) if field.value else others
        becomes = "never reported" if field.value else "no longer kept out"
        await _use(desk, wanted, f"{said[0].upper()}{said[1:]}: {becomes}, from now on.")

    field = ui.switch(said, value=rule in desk.session.policy.preferences)
    field.on("update:model-value", switched)


def _rule(desk: Desk, preference: Preference) -> None:
    async def remove() -> None:
        kept = tuple(one for one in desk.session.policy.preferences if one != preference)
        await _use(desk, kept, f"The rule is gone: {preference}.")

    with ui.element("div").classes("row-of"):
        ui.label(f"Cells that are not: {preference}").classes("grow")
        button = ui.button("Remove", on_click=remove).props("outline dense no-caps")
        button.props(f'aria-label="Remove {escape(str(preference))}"')


def _painted(desk: Desk) -> None:
    count = len(painted(desk.session))
    if count:
        cells = "1 cell" if count == 1 else f"{count} cells"
        paragraph(f"{cells} that you painted on the map. A click there undoes one.")
    else:
        paragraph("To paint cells: choose 'Never report this cell' above the map.", soft=True)


def _one_more(desk: Desk) -> None:
    paragraph("Report only cells where …", soft=True)
    with ui.element("div").classes("row-of"):
        names = _variables(desk)
        variable = ui.select(names, value=names[0], label="What").props("outlined dense")
        operator = ui.select([str(one) for one in Operator], value="=", label="Is")
        operator.props("outlined dense").style("width: 5rem")
        value = ui.input("Value", placeholder="True, 10, 2 km from gym").props("outlined dense")

        async def add() -> None:
            text = f"{variable.value} {operator.value} {value.value}"
            rule = desk.attempt(lambda: parse_preference(text))
            if rule is not None:
                wanted = (*desk.session.policy.preferences, rule)
                await _use(desk, wanted, f"One more rule: {rule}.")

        ui.button("Add", on_click=add).props("no-caps unelevated")
        variable.classes("grow")
        value.classes("grow").on("keydown.enter", add)


def _variables(desk: Desk) -> list[str]:
    public_map = desk.session.public_map
    public = [] if public_map is None else [*public_map.filters, *public_map.attributes]
    return [*public, DISTANCE, *sorted(PERSONAL), *desk.session.policy.sources]


async def _use(desk: Desk, wanted: tuple[Preference, ...], said: str) -> None:
    def put() -> None:
        policy: Policy = replace(desk.session.policy, preferences=wanted)
        desk.session.use_policy(policy)

    await desk.use(put, said)
