"""What was sent, to whom, what it cost, what is left; and forgetting it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from nicegui import background_tasks, ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.session import Session
from geocorgi.device.app.words import facts, heading, paragraph, table
from geocorgi.device.budget import Balance
from geocorgi.device.erasing import erase
from geocorgi.device.ledger import Ledger, Sent
from geocorgi.device.offers import wished_per_km

MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class _Books:
    sent: tuple[Sent, ...]
    balance: Balance


def draw_history(desk: Desk) -> None:
    """Draw the history and the budget as they are now."""
    books: list[_Books] = []

    @ui.refreshable
    def shown() -> None:
        if books:
            _show(books[-1])

    async def load() -> None:
        books[:] = [await asyncio.to_thread(_read, desk.session)]
        shown.refresh()

    async def forget() -> None:
        erased = await asyncio.to_thread(erase, desk.session.data)
        dialog.close()
        desk.session.reported = None
        desk.say(
            f"{erased.places} places and {erased.reports} reports are erased; "
            f"{erased.charges_kept} charges stay until their period is over."
        )
        desk.changed()

    shown()
    ui.timer(0.1, load, once=True)
    desk.drawn_anew.append(lambda: background_tasks.create(load()))
    with ui.dialog() as dialog, ui.card().props('role="document"'):
        heading("Erase the history?")
        paragraph("Every remembered place and report is forgotten. What was spent stays spent.")
        with ui.element("div").classes("row-of"):
            ui.button("Keep it", on_click=dialog.close).props("outline no-caps")
            ui.button("Erase it", on_click=forget).props("no-caps unelevated")
    ui.button("Erase the history …", on_click=dialog.open).props("outline no-caps")


def _read(session: Session) -> _Books:
    policy = session.policy
    with Ledger(session.data) as ledger:
        cost = wished_per_km(policy.protection)
        return _Books(ledger.history(), ledger.balance(policy.budget, cost))


def _show(books: _Books) -> None:
    state = books.balance
    ceiling = state.budget.ceiling_per_km
    heading("Budget")
    left = "no ceiling" if ceiling is None else f"{max(ceiling - state.spent_per_km, 0):g} per km"
    of = "" if ceiling is None else f" of {ceiling:g}"
    now = "a fresh draw fits now"
    if not state.fits:
        when = state.frees_at and state.frees_at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        now = f"at the ceiling until {when}" if when else "one draw costs more than the ceiling"
    facts(
        [
            ("spent", f"{state.spent_per_km:g}{of} per km in {state.budget.period_hours:g} hours"),
            ("left", left),
            ("next", now),
        ]
    )
    heading("What was sent")
    if not books.sent:
        paragraph("Nothing was sent yet.")
        return
    rows = [
        (
            one.time.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
            one.recipient,
            one.cell,
            one.kind,
            f"{one.epsilon_per_km:g}",
        )
        for one in reversed(books.sent[-MOST_ROWS:])
    ]
    table("The latest first",
          ("when", "to", "cell", "how", "per km"), rows)  # fmt: skip
