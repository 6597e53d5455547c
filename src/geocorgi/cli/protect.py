"""``geocorgi protect``: a file of many users' places in, a file of reported cells out."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.cli.device_option import DeviceOption, asks_for_matrices, device_at_hand
from geocorgi.cli.release_progress import release_progress
from geocorgi.cli.waiting import Waiting
from geocorgi.device.bulk.suitable import require_suitable
from geocorgi.device.data_folder import data_folder
from geocorgi.device.obfuscate import ANYBODY
from geocorgi.device.preparation import Prepared, prepare
from geocorgi.terminal import DOES_NOT_HOLD, INTERRUPTED, console, messages, print_json

if TYPE_CHECKING:
    from geocorgi.device.bulk.preparing import Wish

MEMORIES = "users"
BUCKETS_OF_A_CLUSTER = 16
WITHHELD = {
    "outside": "outside the map",
    "bad_rows": "that cannot be read",
    "in_removed_places": "in removed places",
    "over_budget": "of users at their ceiling",
}


@dataclass(frozen=True, slots=True)
class ColumnOption:
    """What a user said of the file's columns: their names, and which leave (None: the usual)."""

    user: str
    time: str
    latitude: str
    longitude: str
    keep: list[str] | None


@asks_for_matrices
def protect_command(
    source: Path = typer.Argument(..., metavar="IN", help="Rows: .csv, .csv.gz or .parquet."),
    out: Path = typer.Argument(..., metavar="OUT", help="Reported cells: .csv or .parquet."),
    *,
    option: DeviceOption,
    keep: list[str] = typer.Option(
        [], help="A column that leaves beside the cell; repeat it. If none: user and time."
    ),
    keep_none: bool = typer.Option(False, "--keep-none", help="Let nothing leave but the cell."),
    user: str = typer.Option("user", help="The column that says whose a row is."),
    time: str = typer.Option("time", help="The column of times; '' if there is none."),
    latitude: str = typer.Option("latitude", help="The column of latitudes."),
    longitude: str = typer.Option("longitude", help="The column of longitudes."),
    recipient: str = typer.Option(ANYBODY, "--to", help="For whom: a label of your policy."),
    memory: Path | None = typer.Option(
        None, help="The users' memory, a folder; else 'users' in the data folder."
    ),
    buckets: int | None = typer.Option(
        None, help="Divide the users; else as the memory is, 1 at first, with --cluster 16."
    ),
    cluster: str | None = typer.Option(
        None, help="Work on the Dask scheduler at this address: tls://HOST:PORT."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the manifest."),
) -> None:
    """Release a file of many users: each place of a user is drawn once, remembered and charged.

    Only the columns that are kept leave, beside the reported cell. Rows outside the map and bad
    ones are counted and withheld. Killed at any moment, the same command goes on. What holds of
    the release stands in OUT.manifest.json.

    On a cluster every worker needs the same paths, and the tasks carry paths and never rows.

    Exit code 1 if no row could be released, or the file broke off before its end.

    Example: [bold]geocorgi protect rows.parquet out.parquet --map map.json[/bold]

    Example: [bold]geocorgi protect rows.csv out.csv --map map.json --policy policy.toml --user id
    --time at --latitude lat --longitude lon --keep id --keep purpose[/bold]
    """
    named = ColumnOption(user, time, latitude, longitude, [] if keep_none else keep or None)
    wish = _wish(source, out, named, memory)
    usual = BUCKETS_OF_A_CLUSTER if cluster else 1
    wish = replace(wish, buckets=buckets, usual_buckets=usual)
    prepared = _prepared(option, recipient, as_json)
    manifest = _released(wish, prepared, cluster, quiet=as_json)
    if as_json:
        print_json(manifest)
    else:
        _show(manifest)
    if _falls_short(manifest["rows"]):
        raise typer.Exit(DOES_NOT_HOLD)


def _wish(source: Path, out: Path, named: ColumnOption, memory: Path | None) -> Wish:
    """Return what is asked for, or refuse it before anything is fetched."""
    from geocorgi.checkins.layouts import Columns  # noqa: PLC0415 - an extra that only this needs
    from geocorgi.device.bulk.preparing import Wish, require_wish  # noqa: PLC0415

    columns = Columns(named.user, named.time or None, named.latitude, named.longitude, None)
    usual = (named.user, named.time) if named.time else (named.user,)
    keep = usual if named.keep is None else tuple(named.keep)
    wish = Wish(source, out, columns, keep, memory or data_folder() / MEMORIES)
    require_wish(wish)
    return wish


def _prepared(option: DeviceOption, recipient: str, as_json: bool) -> Prepared:
    """Return the mechanism's parts, fetched and checked as for one report."""
    with device_at_hand(option, Waiting(as_json)) as (wanted, device):
        level = require_suitable(wanted).precision_for(recipient)
        return prepare(replace(wanted, precision_level=level), device)


def _released(
    wish: Wish, prepared: Prepared, cluster: str | None, *, quiet: bool
) -> dict[str, Any]:
    from geocorgi.device.bulk.expected_rows import expected_rows  # noqa: PLC0415
    from geocorgi.device.bulk.release_file import release_file  # noqa: PLC0415

    passes = 1 if cluster else wish.buckets or wish.usual_buckets
    rows = expected_rows(wish.source)
    try:
        with (
            _executor(cluster) as executor,
            release_progress(rows and rows * passes, quiet=quiet) as on_rows,
        ):
            return release_file(wish, prepared, executor, on_rows)
    except KeyboardInterrupt:
        messages.print("interrupted; what is done is kept: run the same command again")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _executor(cluster: str | None) -> Iterator[Executor | None]:
    if cluster is None:
        yield None
        return
    from geocorgi.cluster import cluster_executor  # noqa: PLC0415 - only if asked for

    with cluster_executor(cluster) as executor:
        yield executor


def _falls_short(rows: dict[str, int]) -> bool:
    nothing = rows["reported"] == 0 and rows["rows"] + rows["bad_rows"] > 0
    return nothing or rows["broken_off"] > 0


def _show(manifest: dict[str, Any]) -> None:
    rows, guarantee = manifest["rows"], manifest["guarantee"]
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("released", f"[bold]{rows['reported']:,}[/bold] of {rows['rows']:,} rows")
    for name, what in WITHHELD.items():
        if rows[name]:
            table.add_row("withheld", f"{rows[name]:,} {what}")
    users, draws = guarantee["users_with_draws"], guarantee["most_draws_of_a_user"]
    table.add_row("drawn now", f"{rows['fresh_draws']:,}; a place of a user is drawn once")
    table.add_row("holds", f"{guarantee['epsilon_per_km']:g} per km between leaves, each draw")
    table.add_row(
        "adds up to",
        f"{guarantee['composed_epsilon_per_km_of_that_user']:g} per km at most for one of "
        f"{users:,} users, with {draws:,} draws in all her releases",
    )
    table.add_row("manifest", escape(f"{manifest['release']['file']}.manifest.json"))
    console.print(table)
    if rows["broken_off"]:
        messages.print("[red]the file broke off[/red]: what came before is released")
    if rows["reported"] == 0:
        messages.print("[yellow]note:[/yellow] nothing is released: are these rows on this map?")
    for sentence in manifest["not_guaranteed"]:
        console.print(f"[dim]{escape(sentence)}[/dim]")
