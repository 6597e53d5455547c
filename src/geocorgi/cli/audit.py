"""``geocorgi audit``: what a matrix from anywhere truly promises, or what refutes a sampler."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.cli.audit_sampler import answer_sampler
from geocorgi.errors import BadFile, InvalidInput, InvalidMatrix
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.geo_ind import Audit, audit
from geocorgi.matrix.matrix_file import read_matrix
from geocorgi.terminal import DOES_NOT_HOLD, console, print_json


def audit_command(
    file: Path | None = typer.Argument(None, help="The matrix: .npz, .csv or .safetensors."),
    epsilon: float = typer.Option(..., help="The budget per km that is claimed."),
    sampler: str | None = typer.Option(
        None, help="Instead of a file: module:function, a mechanism to draw from."
    ),
    at: str = typer.Option("60.17,24.94", help="With --sampler: where to try it, LAT,LNG."),
    cell: str | None = typer.Option(
        None, help="With --sampler: it takes and returns H3 cells; try this one's children."
    ),
    draws: int = typer.Option(1_000_000, help="With --sampler: how many in all."),
    confidence: float = typer.Option(0.99, help="With --sampler: of what is refuted."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Check a square obfuscation matrix for geo-indistinguishability, exactly, all pairs.

    With --sampler test any function by its draws instead: the sets of reports that look most
    suspicious in one half of the draws are tested on the other, with exact binomial bounds. Draws
    can refute a claim, never prove it. The function takes a latitude and a longitude (and, if it
    likes, a number of draws) and returns the same; its module is run.

    npz: the arrays 'matrix' and 'cells' (or 'distances_km').

    csv: a header 'cell,<cell>,<cell>…' and a row for each cell.

    safetensors: a tensor 'matrix' (or 'weights'), and 'cells' as metadata.

    Exit code 0 if the promise holds, 1 if it does not, 2 if the file cannot be judged.

    Example: [bold]geocorgi audit matrix.npz --epsilon 5 --json[/bold]

    Example: [bold]geocorgi audit --sampler mine:report --epsilon 5[/bold]
    """
    require_epsilon(epsilon)  # before a large file is read for nothing
    if sampler is not None and file is None:
        answer_sampler(sampler, epsilon, at, cell, draws, confidence, as_json)
    elif file is not None and sampler is None:
        _answer_file(file, epsilon, as_json=as_json)
    else:
        raise InvalidInput("audit a file or a --sampler, one of the two")


def _answer_file(file: Path, epsilon: float, *, as_json: bool) -> None:
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
