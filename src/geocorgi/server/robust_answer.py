"""What a robust matrix is said to be: in JSON, in a file, on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from geocorgi.errors import BadFile
from geocorgi.generate.robust import Iteration, Robust
from geocorgi.generate.robust_paper import PaperRobust
from geocorgi.matrix.geo_ind import Audit, audit
from geocorgi.matrix.sealed_file import Points, SealedFile, write_sealed
from geocorgi.server.matrix_answer import write_floats
from geocorgi.terminal import console, messages, print_json
from geocorgi.tree import distances


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where the answer goes, and where the question came from."""

    out: Path | None
    places: Points | None
    inputs: dict[str, str]
    as_json: bool


def require_sealable(out: Path | None) -> None:
    """Refuse a name for which a certified matrix is not written."""
    if out is not None and out.suffix != ".safetensors":
        raise BadFile("with --delta a matrix is written sealed: end its name in .safetensors")


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
    verdict = audit(found.sealed, found.problem.distances_km, found.epsilon_per_km)
    return _described(found, found.method, found.epsilon_per_km, verdict) | {
        "lower_bound_km": found.lower_bound_km
    }


def _described(
    found: Robust | PaperRobust, method: str, epsilon_per_km: float, verdict: Audit
) -> dict[str, Any]:
    problem, certificate = found.problem, found.certificate
    return {
        "cells": list(problem.places),
        "reportable": list(problem.reportable),
        "epsilon_per_km": epsilon_per_km,
        "delta": found.delta,
        "rows": certificate.rows.value,
        "method": method,
        "loss_km": found.loss_km,
        "seconds": found.seconds,
        "iterations": [asdict(iteration) for iteration in found.iterations],
        "certificate": {
            "holds": certificate.holds,
            "smallest_epsilon_per_km": certificate.smallest_epsilon_per_km,
        },
        "audit": asdict(verdict),
        "distance": distances.DEFINITION,
    }


def answer_paper(found: PaperRobust, wanted: Wanted) -> bool:
    """Say what Algorithm 1 has come to, write it if that is wanted, return whether it holds."""
    answer = _described_paper(found)
    if wanted.out is not None:
        write_floats(wanted.out, found.problem, found.matrix)
        answer["out"] = wanted.out.name
    if wanted.as_json:
        print_json(answer)
    else:
        _show(answer)
    return found.certificate.holds


def _described_paper(found: PaperRobust) -> dict[str, Any]:
    problem = found.problem
    verdict = audit(found.matrix, problem.distances_km, problem.epsilon_per_km)
    return _described(found, "paper (Algorithm 1)", problem.epsilon_per_km, verdict) | {
        "capped_edges": found.capped_edges
    }


def _show(answer: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    rounds = len(answer["iterations"])
    table.add_row("method", f"{answer['method']}, {rounds} rounds, {answer['seconds']:.2f} s")
    table.add_row("quality loss", f"{answer['loss_km'] * 1000:.4f} m")
    certificate = answer["certificate"]
    holds = "[green]holds[/green]" if certificate["holds"] else "[red]does not hold[/red]"
    table.add_row(
        "certificate",
        f"{holds} at {answer['epsilon_per_km']:g} per km whatever {answer['delta']} cells leave "
        f"(rows {answer['rows']}); smallest epsilon {certificate['smallest_epsilon_per_km']!r}",
    )
    if answer.get("capped_edges"):
        table.add_row("cap", f"on {answer['capped_edges']} edges the reserve exceeded eps·d")
    if "out" in answer:
        table.add_row("written", str(answer["out"]))
    console.print(table)
