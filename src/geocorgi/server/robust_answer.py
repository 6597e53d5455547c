"""What a robust matrix is said to be: in JSON, in a file, on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from geocorgi.generate.robust import Iteration, Robust
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.sealed_file import Points, SealedFile, write_sealed
from geocorgi.terminal import console, messages, print_json
from geocorgi.tree import distances


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where the answer goes, and where the question came from."""

    out: Path | None
    places: Points | None
    inputs: dict[str, str]
    as_json: bool


def iteration_shown(wanted: Wanted) -> Callable[[Iteration], None]:
    """Return what shows a round on standard error."""

    def line(iteration: Iteration) -> None:
        if not wanted.as_json:
            loss, change = iteration.loss_km * 1000, iteration.change
            messages.print(f"loss {loss:.4f} m, largest change {change:.2g}")

    return line


def answer_robust(found: Robust, wanted: Wanted) -> None:
    """Write the matrix if that is wanted, and say what it is."""
    answer = described_robust(found)
    if wanted.out is not None:
        sources = {
            name: "uniform" if source == "uniform" else "file"
            for name, source in wanted.inputs.items()
        }
        write_sealed(
            wanted.out,
            SealedFile(
                found.sealed,
                found.epsilon_per_km,
                wanted.places,
                {
                    "delta": found.delta,
                    "loss_km": found.loss_km,
                    "method": found.method,
                    "rows": found.rows.value,
                    **sources,
                },
                answer["audit"],
            ),
        )
        answer["out"] = wanted.out.name
    if wanted.as_json:
        print_json(answer)
    else:
        _show(answer)


def described_robust(found: Robust) -> dict[str, Any]:
    """Return everything that there is to say about the matrix."""
    problem, certificate = found.problem, found.certificate
    verdict = audit(found.sealed, problem.distances_km, found.epsilon_per_km)
    return {
        "cells": list(problem.places),
        "reportable": list(problem.reportable),
        "epsilon_per_km": found.epsilon_per_km,
        "delta": found.delta,
        "rows": found.rows.value,
        "method": found.method,
        "loss_km": found.loss_km,
        "lower_bound_km": found.lower_bound_km,
        "seconds": found.seconds,
        "iterations": [asdict(iteration) for iteration in found.iterations],
        "certificate": {
            "holds": certificate.holds,
            "smallest_epsilon_per_km": certificate.smallest_epsilon_per_km,
        },
        "audit": asdict(verdict),
        "distance": distances.DEFINITION,
    }


def _show(answer: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    rounds = len(answer["iterations"])
    table.add_row("method", f"{answer['method']}, {rounds} rounds, {answer['seconds']:.2f} s")
    table.add_row("quality loss", f"{answer['loss_km'] * 1000:.4f} m, sealed")
    certificate = answer["certificate"]
    holds = "[green]holds[/green]" if certificate["holds"] else "[red]does not hold[/red]"
    table.add_row(
        "certificate",
        f"{holds} at {answer['epsilon_per_km']:g} per km whatever {answer['delta']} cells leave "
        f"(rows {answer['rows']}); smallest epsilon {certificate['smallest_epsilon_per_km']!r}",
    )
    if "out" in answer:
        table.add_row("written", str(answer["out"]))
    console.print(table)
