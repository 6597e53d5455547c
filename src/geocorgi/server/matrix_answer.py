"""What a generated matrix is said to be: in JSON, in a file, on a terminal."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.generate.generated import Generated
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed_file import Points, SealedFile, write_sealed
from geocorgi.matrix.sealing import seal
from geocorgi.terminal import console
from geocorgi.tree import distances
from geocorgi.tree.cells import is_cell


def require_writable(out: Path) -> None:
    """Refuse a name that could not be written to, before hours are spent on its content."""
    if out.suffix not in {".safetensors", ".npz"}:
        raise BadFile(f"{out.name} is of no known kind: end its name in .safetensors or .npz")
    if not out.parent.is_dir():
        raise BadFile(f"cannot write {out.name}: its folder does not exist")


def described(generated: Generated) -> dict[str, Any]:
    """Return everything that there is to say about the matrix."""
    evidence = generated.evidence
    return {
        "cells": list(generated.problem.places),
        "reportable": list(generated.problem.reportable),
        "epsilon_per_km": generated.problem.epsilon_per_km,
        "method": evidence.method,
        "loss_km": generated.loss_km,
        "lower_bound_km": evidence.lower_bound_km,
        "gap": generated.gap,
        "seconds": evidence.seconds,
        "rounds": evidence.rounds,
        "stopped_by": evidence.stopped_by,
        "audit": asdict(generated.audit),
        "distance": distances.DEFINITION,
    }


def written(
    out: Path, generated: Generated, places: Points | None, inputs: dict[str, str]
) -> dict[str, Any]:
    """Write the matrix by the kind of its name; return what there is to say about the file."""
    problem, matrix = generated.problem, generated.matrix
    if out.suffix == ".npz":
        write_floats(out, generated.problem, generated.matrix)
        return {"out": out.name}
    sealed = seal(matrix, problem.distances_km, problem.epsilon_per_km)
    shares = sealed.matrix.weights / sealed.matrix.row_totals[0]
    loss = float((problem.costs * shares).sum())
    provenance = {
        "method": generated.evidence.method,
        "loss_km": loss,
        "lower_bound_km": generated.evidence.lower_bound_km,
        **{name: "uniform" if source == "uniform" else "file" for name, source in inputs.items()},
    }
    write_sealed(
        out,
        SealedFile(sealed.matrix, problem.epsilon_per_km, places, provenance, asdict(sealed.audit)),
    )
    cost = (loss - generated.loss_km) / generated.loss_km if generated.loss_km else 0.0
    return {"out": out.name, "sealed_loss_km": loss, "sealing_cost": cost}


def write_floats(out: Path, problem: ObfuscationProblem, matrix: ObfuscationMatrix) -> None:
    """Write the matrix as it is, in floating point, as .npz."""
    content = io.BytesIO()
    names = np.array(matrix.row_cells)
    if all(map(is_cell, matrix.row_cells)):
        np.savez(content, matrix=matrix.probabilities, cells=names)
    else:
        np.savez(content, matrix=matrix.probabilities, distances_km=problem.distances_km)
    write_atomically(out, content.getvalue())


def show(generated: Generated, answer: dict[str, Any]) -> None:
    """Print it for people."""
    evidence, verdict = generated.evidence, generated.audit
    table = Table(show_header=False, box=None, padding=(0, 2))
    how = f"{evidence.method}, {evidence.seconds:.2f} s, stopped by {evidence.stopped_by}"
    table.add_row("method", how)
    table.add_row("quality loss", f"{generated.loss_km * 1000:.4f} m")
    if evidence.lower_bound_km is not None:
        table.add_row(
            "at best", f"{evidence.lower_bound_km * 1000:.4f} m, proved (gap {generated.gap:.2g})"
        )
    holds = "[green]holds[/green]" if verdict.holds else "[red]does not hold[/red]"
    table.add_row(
        "audit",
        f"{holds} at {verdict.epsilon_per_km:g} per km; smallest epsilon "
        f"{verdict.smallest_epsilon_per_km!r}",
    )
    if "sealing_cost" in answer:
        cost = f"sealing cost {answer['sealing_cost']:.2g} of the loss"
        table.add_row("sealed", f"{answer['out']}; {cost}")
    elif "out" in answer:
        table.add_row("written", f"{answer['out']}, in floating point, not sealed")
    console.print(table)
