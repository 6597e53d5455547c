"""``geocorgi audit``: what a matrix from anywhere truly promises."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.errors import BadFile, InvalidMatrix
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.geo_ind import Audit, audit
from geocorgi.matrix.matrix_file import read_matrix
from geocorgi.terminal import DOES_NOT_HOLD, console, print_json


def audit_command(
    file: Path = typer.Argument(..., help="The matrix: .npz, .csv or .safetensors."),
    epsilon: float = typer.Option(..., help="The budget per km that the matrix claims."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Check a square obfuscation matrix for geo-indistinguishability, exactly, all pairs.

    npz: the arrays 'matrix' and 'cells' (or 'distances_km').

    csv: a header 'cell,<cell>,<cell>…' and a row for each cell.

    safetensors: a tensor 'matrix' (or 'weights'), and 'cells' as metadata.

    Exit code 0 if the promise holds, 1 if it does not, 2 if the file cannot be judged.

    Example: [bold]geocorgi audit matrix.npz --epsilon 5 --json[/bold]
    """
    require_epsilon(epsilon)  # before a large file is read for nothing
    found = read_matrix(file)
    try:
        verdict = audit(found.matrix, found.distances_km, epsilon)
    except InvalidMatrix as refusal:
        raise BadFile(f"{file.name}: {refusal}") from refusal
    if as_json:
        print_json(asdict(verdict) | {"violated_share": verdict.violated_share})
    else:
        _show(escape(file.name), verdict)
    if not verdict.holds:
        raise typer.Exit(DOES_NOT_HOLD)


def _show(name: str, verdict: Audit) -> None:
    if verdict.holds:
        sentence = f"[green]holds[/green]: {name} is {verdict.epsilon_per_km:g}-Geo-Ind"
    else:
        sentence = f"[red]does not hold[/red]: {name} is not {verdict.epsilon_per_km:g}-Geo-Ind"
    console.print(sentence)
    table = Table(show_header=False, box=None, padding=(0, 2))
    smallest = verdict.smallest_epsilon_per_km
    table.add_row("smallest epsilon", f"{smallest!r} per km" if math.isfinite(smallest) else "none")
    if verdict.worst is not None:
        worst = verdict.worst
        table.add_row("worst", f"{worst.reported} tells {worst.real} from {worst.other}")
    table.add_row(
        "violations",
        f"{verdict.violations:,} of {verdict.comparisons:,} ({verdict.violated_share:.4%})",
    )
    if verdict.infinite_ratios:
        table.add_row("something over nothing", f"{verdict.infinite_ratios:,} ratios are infinite")
    console.print(table)
