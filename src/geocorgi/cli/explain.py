"""``geocorgi explain``: what a policy comes to, before anything is reported."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.cli.device_option import DeviceOption, asks_for_matrices, device_at_hand
from geocorgi.cli.hex_map import hex_map
from geocorgi.cli.place_option import FromFile, FromGpsd, Place, place_door
from geocorgi.cli.waiting import Waiting
from geocorgi.device.explanation import Explanation, Here, explain
from geocorgi.device.obfuscate import ANYBODY
from geocorgi.device.preparation import prepare
from geocorgi.terminal import console, print_json
from geocorgi.tree import cells

MOST_SHOWN = 20


@asks_for_matrices
def explain_command(
    place: list[str] | None = Place,
    from_file: Path | None = FromFile,
    gpsd: str | None = FromGpsd,
    nowhere: bool = typer.Option(False, "--nowhere", help="Say only what holds everywhere."),
    *,
    option: DeviceOption,
    recipient: str = typer.Option(ANYBODY, "--to", help="For whom: a label of your own."),
    draw: bool = typer.Option(False, "--draw", help="Draw your subtree here, and where you are."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Say what a policy comes to: what is removed and why, who learns what, what truly holds.

    The forest is fetched and checked as for a report; nothing is drawn, charged or remembered. The
    real location comes as for a report, and what is said about its subtree is for your eyes.

    Example: [bold]geocorgi explain --map map.json --policy policy.toml --nowhere[/bold]
    """
    where = None if nowhere else place_door(place, from_file, gpsd)
    with device_at_hand(option, Waiting(as_json)) as (wanted, device):
        prepared = prepare(wanted, device)
    real_leaf = None if where is None else where().leaf_of(prepared.public_map)
    explained = explain(prepared, wanted.precision_for(recipient), real_leaf)
    if as_json:
        print_json(asdict(explained))
    else:
        _show(explained)
        if draw and explained.here is not None and real_leaf is not None:
            _draw(explained.here, real_leaf)


def _show(explained: Explanation) -> None:
    request, table = explained.request, Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("asked for", f"level {request['privacy_level']}, rows {request['rows']}")
    table.add_row("filter", str(request["filter"] or "none"))
    table.add_row("delta", explained.delta)
    table.add_row(
        "epsilon",
        f"{request['epsilon_per_km']:g} per km (wished: {explained.wished_per_km:.6g}); within "
        f"{explained.protection_radius_m:,.0f} m no report makes one place more than four times "
        "as likely as another",
    )
    table.add_row("matrix", f"{explained.mechanism}")
    console.print(table)
    if explained.rules:
        _show_rules(explained)
    if explained.here is not None:
        _show_here(explained.here)
    for heading, sentences in (
        ("The server learns", explained.server_learns),
        ("A recipient learns", explained.recipient_learns),
        ("Not guaranteed", explained.not_guaranteed),
    ):
        console.print(f"\n[bold]{heading}[/bold]")
        for sentence in sentences:
            console.print(f"  - {escape(sentence)}")


def _show_rules(explained: Explanation) -> None:
    table = Table("rule", "cells of the map", "how", box=None, padding=(0, 2))
    for rule in explained.rules:
        table.add_row(escape(rule.rule), f"{rule.cells_of_map:,}", escape(rule.how))
        if rule.note:
            table.add_row("", "", escape(rule.note))
    console.print()
    console.print(table)


def _show_here(here: Here) -> None:
    guarantee, worth = here.guarantee, here.usefulness
    console.print(f"\n[bold]Your subtree[/bold] {here.subtree}, {here.cells} cells")
    for cell, reasons in list(here.never_reported.items())[:MOST_SHOWN]:
        console.print(f"  never reported: {cell}  {escape('; '.join(reasons))}")
    if (more := len(here.never_reported) - MOST_SHOWN) > 0:
        console.print(f"  … and {more} more (all with --json)")
    word = "holds" if guarantee.holds else "does not hold"
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row(
        "truly needed",
        f"{guarantee.between_leaves_per_km:.6g} per km where {guarantee.promised_per_km:g} was "
        f"asked for: it {word}",
    )
    table.add_row("mean distance", f"{worth.mean_distance_m:,.0f} m from you to what is reported")
    table.add_row(
        "best adversary",
        f"still errs by {worth.adversary_m:,.0f} m on average; by "
        f"{worth.adversary_before_m:,.0f} m before she sees a report",
    )
    console.print(table)
    for sentence in guarantee.exceptions:
        console.print(f"  [yellow]note:[/yellow] {escape(sentence)}")


def _draw(here: Here, real_leaf: str) -> None:
    """Draw the subtree for the user's own screen: this alone of all commands shows where she is."""
    leaves = cells.descendants(here.subtree, cells.resolution_of(real_leaf))
    shares = {leaf: 1.0 if leaf in here.never_reported else 0.0 for leaf in leaves}
    marks = dict.fromkeys(here.never_reported, "x") | {real_leaf: "U"}
    console.print()
    console.print(hex_map(shares, marks))
    console.print("[dim]U: you; x, dark: never reported (for your eyes only)[/dim]")
