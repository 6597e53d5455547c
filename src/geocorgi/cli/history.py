"""``geocorgi history``: what was sent, to whom and when; and forgetting it."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.device.data_folder import data_folder
from geocorgi.device.erasing import erase
from geocorgi.device.ledger import Ledger, Sent
from geocorgi.errors import InvalidInput
from geocorgi.terminal import console, print_json


def history_command(
    recipient: str | None = typer.Option(None, "--to", help="Only what was sent to this label."),
    last: int = typer.Option(50, min=1, help="How many lines, the latest ones."),
    erasing: bool = typer.Option(False, "--erase", help="Forget every place and report."),
    yes: bool = typer.Option(False, "--yes", help="With --erase: do not ask."),
    data: Path | None = typer.Option(None, "--data", help="The data folder; else GEOCORGI_DATA."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """List what was sent, to whom, when and what it cost; or erase it all.

    Erasing never restores budget: what was spent stays spent, and every place is drawn and charged
    anew.

    Example: [bold]geocorgi history --to weather --json[/bold]
    """
    folder = data_folder(data)
    if erasing:
        _erase(folder, yes=yes, as_json=as_json)
        return
    with Ledger(folder) as ledger:
        sent = ledger.history()
    lines = [one for one in sent if recipient in (None, one.recipient)][-last:]
    if as_json:
        print_json({"reports": [_described(one) for one in lines]})
    else:
        _show(lines)


def _erase(folder: Path, *, yes: bool, as_json: bool) -> None:
    asked = "Erase every remembered place and report? Spent budget stays."
    if not (yes or typer.confirm(asked)):
        raise InvalidInput("nothing is erased")
    erased = erase(folder)
    if as_json:
        print_json({"places": erased.places, "reports": erased.reports,
                    "charges_kept": erased.charges_kept})  # fmt: skip
    else:
        console.print(
            f"{erased.places} places and {erased.reports} reports are erased; "
            f"{erased.charges_kept} charges stay until their period is over"
        )


def _described(one: Sent) -> dict[str, object]:
    return {
        "time": one.time.isoformat(timespec="seconds"),
        "to": one.recipient,
        "cell": one.cell,
        "kind": one.kind,
        "epsilon_per_km": one.epsilon_per_km,
    }


def _show(lines: list[Sent]) -> None:
    if not lines:
        console.print("nothing was sent")
        return
    table = Table("when", "to", "cell", "how", "cost per km", box=None, padding=(0, 2))
    for one in lines:
        when = one.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(when, escape(one.recipient), one.cell, one.kind, f"{one.epsilon_per_km:g}")
    console.print(table)
