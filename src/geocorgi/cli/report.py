"""``geocorgi report``: one location in, one report out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.cli.device_option import DeviceOption, asks_for_matrices, device_at_hand
from geocorgi.cli.place_option import FromFile, FromGpsd, Place, place_door
from geocorgi.cli.waiting import Waiting
from geocorgi.device.obfuscate import ANYBODY, Obfuscated, made_ready, obfuscate_from
from geocorgi.device.report import geojson, report_fields
from geocorgi.errors import InvalidInput
from geocorgi.terminal import console, messages, print_json

MOST_DWELL = 7 * 24 * 60.0  # minutes


@asks_for_matrices
def report_command(
    place: list[str] | None = Place,
    from_file: Path | None = FromFile,
    gpsd: str | None = FromGpsd,
    *,
    option: DeviceOption,
    recipient: str = typer.Option(ANYBODY, "--to", help="For whom: a label of your own."),
    anew: bool = typer.Option(False, "--anew", help="Draw and charge a fresh report."),
    dwell: float = typer.Option(
        0.0, min=0.0, max=MOST_DWELL, help="Minutes that a new place has to last."
    ),
    as_cell: bool = typer.Option(False, "--cell", help="Print the cell and nothing else."),
    as_centre: bool = typer.Option(False, "--centre", help="Print the centre, LAT,LON."),
    as_geojson: bool = typer.Option(False, "--geojson", help="Print the report as GeoJSON."),
    as_json: bool = typer.Option(
        False, "--json", help="Print one JSON object: 'report' to hand out, the rest for you."
    ),
) -> None:
    """Report about where you are: a cell that keeps your policy, drawn, charged and remembered.

    The real location comes on standard input, as LAT,LON, an H3 cell or a GeoJSON point, and stays
    on this device. The same place is answered with the same cell, free of charge.

    Example: [bold]geocorgi report --map map.json --policy policy.toml < here.txt[/bold]
    """
    shapes = {"cell": as_cell, "centre": as_centre, "geojson": as_geojson, "json": as_json}
    shape = _one_shape([name for name, wanted in shapes.items() if wanted])
    where = place_door(place, from_file, gpsd)
    with device_at_hand(option, Waiting(shape is not None), dwell) as (wanted, device):
        ready = made_ready(wanted, device)
        found = obfuscate_from(where(), ready, device, recipient, anew=anew)
    for sentence in found.guarantee.exceptions:
        messages.print(f"[yellow]note:[/yellow] {escape(sentence)}")
    _say(found, shape)


def _one_shape(wanted: list[str]) -> str | None:
    if len(wanted) > 1:
        raise InvalidInput(f"choose one of --{' and --'.join(wanted)}")
    return wanted[0] if wanted else None


def _say(found: Obfuscated, shape: str | None) -> None:
    if shape == "cell":
        typer.echo(found.report.cell)
    elif shape == "centre":
        latitude, longitude = found.report.centre
        typer.echo(f"{latitude:.6f},{longitude:.6f}")
    elif shape == "geojson":
        print_json(geojson(found.report))
    elif shape == "json":
        print_json(_described(found))
    else:
        _show(found)


def _described(found: Obfuscated) -> dict[str, Any]:
    """Return the report, and beside it what is for the user alone."""
    given, guarantee = found.given, found.guarantee
    return {
        "report": report_fields(found.report),
        "fresh": given.fresh,
        "repeated": given.repeated,
        "spent_per_km": given.balance.spent_per_km,
        "mechanism": found.customised.selection.mechanism,
        "guarantee": asdict(guarantee) | {"holds": guarantee.holds},
    }


def _show(found: Obfuscated) -> None:
    report, given, guarantee = found.report, found.given, found.guarantee
    latitude, longitude = report.centre
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("report", f"[bold]{report.cell}[/bold], a cell of level {report.level}")
    table.add_row("its centre", f"{latitude:.6f},{longitude:.6f}")
    table.add_row("it promises", _promise(found))
    if given.repeated:
        how = "the last report once more: the budget is at its ceiling"
    else:
        how = "drawn and charged now" if given.fresh else "drawn for this place before: free"
    table.add_row("this one", how)
    ceiling = given.balance.budget.ceiling_per_km
    of = "" if ceiling is None else f" of {ceiling:g}"
    spent, hours = given.balance.spent_per_km, given.balance.budget.period_hours
    table.add_row("budget", f"{spent:g}{of} per km spent within {hours:g} hours")
    console.print(table)
    if not guarantee.holds:
        messages.print("[red]what was asked for does not hold[/red]: see the notes")


def _promise(found: Obfuscated) -> str:
    guarantee = found.guarantee
    if guarantee.void:
        return "none: geo-indistinguishability is void"
    if guarantee.narrower:
        return "less than a fresh report would: see the notes"
    word = "holds" if guarantee.holds else "does not hold"
    return (
        f"{guarantee.promised_per_km:g} per km between leaves {word}: "
        f"{guarantee.between_leaves_per_km:.6g} is needed"
    )
