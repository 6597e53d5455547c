"""``geocorgi audit --sampler``: what draws can refute of a sampler's claim."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import typer
from rich.markup import escape
from rich.table import Table

from geocorgi.cli.outside_sampler import children_of, cross_around, function_named, sampler_of
from geocorgi.errors import InvalidInput
from geocorgi.matrix.black_box import Progress, SamplerAudit, audit_sampler
from geocorgi.terminal import DOES_NOT_HOLD, console, messages, print_json


def answer_sampler(
    name: str,
    epsilon: float,
    at: str,
    cell: str | None,
    draws: int,
    confidence: float,
    as_json: bool,
) -> None:
    """Test the sampler, answer, and end with 1 if its claim is refuted."""
    function = function_named(name)
    places = cross_around(*_point(at), epsilon) if cell is None else children_of(cell)
    sampler = sampler_of(function, of_cells=cell is not None)
    with _progress(quiet=as_json) as told:
        verdict = audit_sampler(sampler, places, epsilon, draws, confidence, told)
    if as_json:
        print_json({"sampler": name} | asdict(verdict))
    else:
        _show(escape(name), verdict)
    if verdict.refuted:
        raise typer.Exit(DOES_NOT_HOLD)


def _point(at: str) -> tuple[float, float]:
    try:
        latitude, longitude = (float(part) for part in at.split(","))
    except ValueError:
        raise InvalidInput("--at is a latitude and a longitude, such as 60.17,24.94") from None
    return latitude, longitude


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress]:
    if quiet or not messages.is_terminal:
        yield lambda done, total: None  # noqa: ARG005
        return
    with messages.status("drawing…") as status:
        yield lambda done, total: status.update(f"drawing… {done:,} of {total:,}")


def _show(name: str, verdict: SamplerAudit) -> None:
    worst = verdict.worst
    sure = f"{verdict.confidence:.4g} confidence"
    if verdict.refuted:
        console.print(
            f"[red]refuted[/red]: {name} is not {verdict.epsilon_per_km:g}-Geo-Ind, at {sure}"
        )
    else:
        console.print(
            f"[green]not refuted[/green]: {verdict.draws:,} draws do not show that {name} breaks "
            f"{verdict.epsilon_per_km:g}-Geo-Ind, at {sure} (draws can refute, never prove)"
        )
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("epsilon at least", f"{verdict.epsilon_at_least_per_km:.4g} per km")
    table.add_row("worst", f"{worst.real} against {worst.other}, {worst.distance_km:.3f} km apart")
    table.add_row(
        "by", f"{worst.reports}: {worst.from_real:,} and {worst.from_other:,} of "
        f"{worst.draws_each:,} draws",
    )  # fmt: skip
    table.add_row("tests", f"{verdict.tests}, which share the error of one")
    console.print(table)
