"""The demonstration: an operator, a user and a third party, each in processes of their own.

Every step is a command that anybody can type. What stands between the commands is what this program
knows of the made-up person, and nobody in the story does.
"""

from __future__ import annotations

import gzip
import json
import signal
import tempfile
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from geocorgi.cli.hex_map import hex_map
from geocorgi.demo.commands import Commands
from geocorgi.demo.pick_up import Place, ask, nearest
from geocorgi.errors import CommandFailed
from geocorgi.matrix.forest_file import read_forest
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.matrix.quality_loss import estimation_error_km
from geocorgi.synthetic.files import bundled_check_ins, bundled_truth
from geocorgi.terminal import INTERRUPTED, console, messages
from geocorgi.tree import cells
from geocorgi.tree.distances import haversine_km

POLICY = """\
privacy_level = {level}
preferences = ["home = False", "office = False"]

[protection]
epsilon_per_km = {epsilon:g}
"""
OFFER = ("--delta", "0", "--delta", "2", "--rows", "keep", "--gap", "0.05")
PERSON = 0  # of the made-up city: she has a home and an office


@dataclass(frozen=True, slots=True)
class Plan:
    """What is offered and asked for: among how many cells to hide, and how well."""

    level: int = 2
    epsilon_per_km: float = 10.0


def main(plan: Plan | None = None) -> None:
    """Play the story in a folder of its own, and leave nothing behind."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="geocorgi-demo-") as folder:
            _story(plan or Plan(), Commands(Path(folder)))
    except KeyboardInterrupt:
        messages.print("interrupted; the server is stopped, and nothing is left behind")
        raise SystemExit(INTERRUPTED) from None
    except CommandFailed as refusal:
        raise SystemExit(f"the demonstration ends here: {refusal}") from None
    console.print(f"\nThe server is stopped and the folder deleted: {_since(began)}.")


def _story(plan: Plan, commands: Commands) -> None:
    _map(plan, commands)
    serve = ("serve", "--map", "map.json", "--store", "published", "--port", "0")
    with commands.started("geocorgi-server", *serve) as server:
        console.print(f"It serves the map at {server} and has built no forest yet.\n")
        home = _rules(plan, commands)
        _explained(commands, server, cells.centre(home))
        report = _reported(commands, server, home)
        with _provider(commands) as provider:
            _served(report, provider, cells.centre(home))
        _noted(commands)


def _map(plan: Plan, commands: Commands) -> None:
    console.rule("1  The operator makes a map of what is public, and serves it")
    with bundled_check_ins() as path:
        (commands.folder / "checkins.tsv.gz").write_bytes(path.read_bytes())
    offer = ("--level", str(plan.level), "--epsilon", f"{plan.epsilon_per_km:g}", *OFFER)
    words = ("map", "--checkins", "checkins.tsv.gz", *offer, "--out", "map.json")
    _print(commands.run("geocorgi-server", *words))


def _rules(plan: Plan, commands: Commands) -> str:
    """Write the user's policy and let her device learn her own places; return where she is."""
    console.rule("2  The user: home and office never appear")
    with bundled_check_ins() as path, gzip.open(path, "rt", encoding="ascii") as lines:
        hers = [line for line in lines if line.startswith(f"{PERSON}\t")]
    (commands.folder / "my-history.txt").write_text("".join(hers), encoding="ascii")
    _print(commands.run("geocorgi", "policy", "places", "my-history.txt"))
    policy = POLICY.format(level=plan.level, epsilon=plan.epsilon_per_km)
    (commands.folder / "policy.toml").write_text(policy, encoding="utf-8")
    console.print(f"[bold cyan]$ cat policy.toml[/bold cyan]\n{escape(policy)}")
    return bundled_truth()[PERSON].home_cell


def _explained(commands: Commands, server: str, here: Place) -> None:
    console.rule("3  Her device asks, the server builds, the device checks all of it")
    _print(commands.run("geocorgi", "explain", *_asking(server), told=_said(here)))


def _reported(commands: Commands, server: str, home: str) -> dict[str, Any]:
    console.rule("4  She is at home, and reports")
    here = _said(cells.centre(home))
    _print(commands.run("geocorgi", "report", *_asking(server), told=here))
    console.print("Once more, for a program; the same place costs nothing twice:")
    again = commands.run("geocorgi", "report", *_asking(server), "--json", told=here)
    report: dict[str, Any] = json.loads(again)["report"]
    _draw(commands, home, report["cell"])
    return report


def _draw(commands: Commands, home: str, reported: str) -> None:
    """Draw the row that the report was drawn from."""
    (path,) = (commands.folder / "published").rglob("*.safetensors")
    matrix = next(one for one in read_forest(path).matrices.values() if home in one.row_cells)
    known = bundled_truth()[PERSON]
    removed = {known.home_cell, known.office_cell} & set(matrix.column_cells)
    pruned = prune(matrix, sorted(cell for cell in removed if cell), Rows.KEEP)
    row = pruned.row_cells.index(home)
    shares = dict.fromkeys(matrix.row_cells, 0.0)
    chances = pruned.weights[row] / pruned.row_totals[row]
    shares |= dict(zip(pruned.column_cells, chances.tolist(), strict=True))
    console.print(hex_map(shares, {home: "U", reported: "R"}))
    console.print("She is at U; darker cells are likelier; R was drawn. Nobody but her sees U.\n")


def _provider(commands: Commands) -> AbstractContextManager[str]:
    console.rule("5  A third party serves her, and knows where R is")
    return commands.started("python", "-m", "geocorgi.demo.pick_up")


def _served(report: dict[str, Any], provider: str, home: Place) -> None:
    """Show what the provider answers and what it costs her (Paper: §2.2, steps 6 and 7)."""
    console.print("It is sent this, and nothing else:")
    console.print_json(data=report)
    found, best = ask(provider, report), nearest(home)
    reported = (report["latitude"], report["longitude"])
    to_pick_up = np.array([[_apart_km(home, found)], [_apart_km(reported, found)]])
    error = float(estimation_error_km(to_pick_up, 0, 1)[0])
    more = _apart_km(home, found) - _apart_km(home, best)
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("it answers with its pick-up at", _said(found))
    table.add_row("it thinks that she walks", f"{to_pick_up[1, 0] * 1000:.0f} m")
    table.add_row("she walks", f"{to_pick_up[0, 0] * 1000:.0f} m, and sees that herself")
    table.add_row("realised error", f"{error * 1000:.0f} m (Eq. 3)")
    nearer = (
        "it is the nearest one" if found == best else f"the nearest is {more * 1000:.0f} m less"
    )
    table.add_row("the price of privacy", nearer)
    console.print(table)
    console.print()


def _noted(commands: Commands) -> None:
    console.rule("6  All that the server has noted")
    noted = commands.log_of("geocorgi-server").read_text(encoding="utf-8")
    console.print(escape(noted.strip()), soft_wrap=True)


def _asking(server: str) -> tuple[str, ...]:
    return ("--policy", "policy.toml", "--server", server)


def _apart_km(one: Place, other: Place) -> float:
    return float(haversine_km(*one, *other))


def _said(place: Place) -> str:
    return f"{place[0]:.6f},{place[1]:.6f}"


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s, and nothing is left"


def _print(text: str) -> None:
    """Print what a command printed, as it is."""
    console.print(text, markup=False, end="")
    console.print()
