"""``geocorgi policy``: what may be said of the user, written down, read back and explained."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.device.attributes.gathering import gatherer
from geocorgi.device.attributes.own_places import (
    OwnPlaces,
    forget_own_places,
    own_places,
    write_own_places,
)
from geocorgi.device.data_folder import data_folder
from geocorgi.device.notation import policy_notation
from geocorgi.device.policy import Policy
from geocorgi.device.policy_example import EXAMPLE
from geocorgi.device.policy_file import read_policy
from geocorgi.device.policy_on_map import OnMap, policy_on_map
from geocorgi.device.policy_text import policy_toml
from geocorgi.device.policy_words import warnings_of, words_of
from geocorgi.errors import InvalidInput
from geocorgi.terminal import console, messages, print_json
from geocorgi.tree.cells import require_resolution
from geocorgi.wire.map_codec import read_map

policy_app = typer.Typer(
    help="Check a policy, begin with an example, learn your own places.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Json = typer.Option(False, "--json", help="Print one JSON object.")


@policy_app.command("check")
def check_command(
    file: Path = typer.Argument(..., help="The policy: TOML, or the paper's notation."),
    map_file: Path | None = typer.Option(None, "--map", help="Count what it removes of this map."),
    proxy: str | None = typer.Option(None, help="Ask sources through this proxy."),
    offline: bool = typer.Option(False, "--offline", help="Ask no source over the network."),
    as_json: bool = Json,
) -> None:
    """Explain a policy in plain words, or name the line that is wrong.

    With a map, what the policy removes of it is counted; sources that the policy declares are
    asked for the whole map. Nothing here knows or asks where you are.

    Example: [bold]geocorgi policy check policy.toml --map map.json[/bold]
    """
    public_map = read_map(map_file) if map_file else None
    policy = read_policy(file, public_map)
    counts = None
    if public_map is not None:
        gather = gatherer(file.parent, data_folder(), proxy, offline=offline)
        with messages.status("asking what is known of the map's cells…"):
            counts = policy_on_map(policy, public_map, gather(policy, public_map))
    if as_json:
        print_json(_described(policy, counts))
    else:
        _show(policy, counts)


@policy_app.command("example")
def example_command() -> None:
    """Print a policy to begin with, with every key that there is.

    Example: [bold]geocorgi policy example > policy.toml[/bold]
    """
    typer.echo(EXAMPLE, nl=False)


@policy_app.command("places")
def places_command(
    history: Path | None = typer.Argument(
        None, help="Your own history: .gpx, .csv, .parquet, or .txt in SNAP's layout."
    ),
    user: str | None = typer.Option(None, help="Whose visits, in a file of several people's."),
    resolution: int = typer.Option(9, help="The H3 resolution of the map's leaves."),
    forget: bool = typer.Option(False, "--forget", help="Forget the places learned before."),
    show: bool = typer.Option(False, "--show", help="Print the cells, not only their number."),
    as_json: bool = Json,
) -> None:
    """Learn home, office and outliers from your own history, and keep them for your policies.

    Nothing leaves this device, and of the history nothing is kept but the cells: home, office,
    outliers, visited ones. They move only when you run this again, never with where you are.

    Example: [bold]geocorgi policy places my-tracks.gpx[/bold]
    """
    if forget == (history is not None):
        raise InvalidInput("give your history, or --forget the places learned before")
    if history is None:
        forget_own_places(data_folder())
        found, rows, bad = OwnPlaces(), 0, 0
    else:
        found, rows, bad = _learned(history, require_resolution(resolution), user)
        write_own_places(found, data_folder())
    answer: dict[str, Any] = {"rows": rows, "bad_rows": bad}
    answer |= {name: cells if show else len(cells) for name, cells in asdict(found).items()}
    if as_json:
        print_json(answer)
    else:
        _show_places(answer)


def _learned(history: Path, resolution: int, user: str | None) -> tuple[OwnPlaces, int, int]:
    from geocorgi.device.attributes.habits import habits_of  # noqa: PLC0415
    from geocorgi.device.attributes.history import (  # noqa: PLC0415 - an extra that only this needs
        read_history,
    )

    with messages.status("reading your history…"):
        read = read_history(history, resolution, user)
        habits = habits_of(read.visits)
    visited = {visit.leaf for visit in read.visits}
    return own_places(habits, visited), read.rows, read.bad_rows


def _show_places(answer: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    for name, found in answer.items():
        shown = f"{found:,}" if isinstance(found, int) else " ".join(found) or "none"
        table.add_row(name.replace("_", " "), shown)
    console.print(table)


def _described(policy: Policy, counts: OnMap | None) -> dict[str, Any]:
    return {
        "notation": policy_notation(policy),
        "toml": policy_toml(policy),
        "words": words_of(policy),
        "warnings": warnings_of(policy),
        "voids_geo_ind": policy.voids_geo_ind,
        "on_map": counts and asdict(counts),
    }


def _show(policy: Policy, counts: OnMap | None) -> None:
    console.print(f"[bold]{escape(policy_notation(policy))}[/bold]\n")
    for sentence in words_of(policy):
        console.print(f"• {escape(sentence)}")
    if counts is not None:
        _show_counts(counts)
    for sentence in warnings_of(policy):
        console.print(f"[yellow]note:[/yellow] {escape(sentence)}")


def _show_counts(counts: OnMap) -> None:
    table = Table(box=None, padding=(0, 2), title="On this map", title_justify="left")
    table.add_column("rule")
    table.add_column("removes", justify="right")
    table.add_column("of")
    for rule in counts.rules:
        whose = "public attributes" if rule.public else "what only you know or choose"
        table.add_row(escape(rule.rule), f"{rule.removes:,}", whose)
    console.print(table)
    console.print(
        f"{counts.removed:,} of {counts.leaves:,} leaves are removed, at most "
        f"{counts.most_removed_of_a_subtree:,} in one of {counts.subtrees:,} subtrees."
    )
    if counts.filters:
        console.print(f"The server can be asked for these filters: {', '.join(counts.filters)}.")
    if counts.emptied:
        console.print(
            f"[yellow]note:[/yellow] {counts.emptied:,} subtrees are left without a cell."
        )
    for sentence in counts.notes:
        console.print(f"[yellow]note:[/yellow] {escape(sentence)}")
