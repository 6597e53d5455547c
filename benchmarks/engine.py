"""How fast provably optimal matrices are made, in how much memory, and beside whom.

Usage::

    python benchmarks/engine.py --quick                    # six small ones, under 20 seconds
    python benchmarks/engine.py                            # all but HiGHS: a quarter of an hour
    python benchmarks/engine.py --only 'k49*' --json
    python benchmarks/engine.py --only 'highs*' --highs    # minutes, at K = 343

Every measurement runs in a fresh process and reports its own peak resident memory. "building" is
the problem (distances and costs), "solving" goes from there to the matrix with its bound, and
"audit" is the exact audit of what came out; "seconds" is all three, and a goal is reached when the
gap is and the seconds are. Where the three take under half a second the median of five is given.
After one and a half times the goal (ten seconds at least; 0.8 times it for the priors of cities at
K = 2,401) the engine is asked to stop, and hands back its best matrix with an honest gap. The
priors of cities and people are read before the clock starts, and rows whose file is missing are
left out and said.

Two comparisons on the same instances in the same run, as ratios of the seconds from a built
problem to a matrix (no audit on either side): HiGHS on the paper's own program (the graph of twelve
neighbours) against our engine on that program and over all pairs; and `qif` over all pairs (not a
dependency; it is used where it can be imported, with its own choice of solver and, where that one
fails, with others that it ships; only the seconds of the one that succeeds count). All are audited
with the true distances.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np

from engine_instances import (
    BESIDE_QIF,
    INSTANCES,
    ON_THE_PAPERS_PROGRAM,
    QUICK,
    Files,
    Instance,
    leaves_of,
    priors_of,
    problem_of,
)
from engine_methods import METHODS, QIF_SOLVERS
from engine_tables import growth, tables
from geocorgi.generate.generated import Generated
from geocorgi.generate.problem import ObfuscationProblem
from machine import peak_bytes

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
PRIOR, POINTS = DATA / "corgi_prior_343_aligned.tsv", DATA / "gowalla_nyc.txt.gz"
SHORT, REPEATS = 0.5, 5
GOALS = {"highs": 100.0, "qif": 20.0}
PATIENCE = {"qif": 300.0}  # seconds for all of its solvers together
Row = dict[str, object]


KNOWN = {instance.name: instance for instance in (*INSTANCES, *ON_THE_PAPERS_PROGRAM, *BESIDE_QIF)}


def answer_of(method: str, name: str, files: Files) -> Row:
    """Measure, or say how a peer failed; that we fail is an error."""
    try:
        return child(method, name, files)
    except RuntimeError:
        if method != "qif":
            raise
        return _failure(KNOWN[name], f"none of {', '.join(QIF_SOLVERS)} succeeds")


def _failure(instance: Instance, why: str) -> Row:
    return {
        "name": instance.name,
        "cells": instance.cells,
        "prior": instance.prior,
        "epsilon_per_km": instance.epsilon_per_km,
        "failure": why,
    }


def child(method: str, name: str, files: Files) -> Row:
    """Measure one method on one instance, here."""
    instance = KNOWN[name]
    leaves = leaves_of(instance)
    priors = priors_of(instance, leaves, files)
    clocks = []
    while True:
        started = time.perf_counter()
        problem = problem_of(instance, leaves, priors)
        built = time.perf_counter()
        found = METHODS[method](problem, instance)
        done = time.perf_counter()
        solving = found.evidence.seconds
        clocks.append((built - started, solving, done - built - solving))
        if sum(clocks[0]) >= SHORT or len(clocks) == REPEATS:
            break
    row = _row(instance, found, [median(clock) for clock in zip(*clocks, strict=True)])
    if instance.prior == "uniform" and method == "exact":
        row["closed_form_km"] = closed_form_km(problem)
    return row


def _row(instance: Instance, found: Generated, clock: list[float]) -> Row:
    seconds, peak_mb = sum(clock), peak_bytes() / 1e6
    in_memory = instance.peak_mb is None or peak_mb <= instance.peak_mb
    near = found.gap is not None and found.gap <= instance.gap
    goal = {"gap": instance.gap, "seconds": instance.seconds, "peak_mb": instance.peak_mb}
    return {
        "name": instance.name,
        "cells": instance.cells,
        "prior": instance.prior,
        "places_of_prior_zero": int(np.sum(found.problem.priors == 0)),
        "epsilon_per_km": instance.epsilon_per_km,
        "goal": goal,
        "loss_km": found.loss_km,
        "lower_bound_km": found.evidence.lower_bound_km,
        "gap": found.gap,
        "seconds": seconds,
        "building_seconds": clock[0],
        "solving_seconds": clock[1],
        "audit_seconds": clock[2],
        "rounds": found.evidence.rounds,
        "method": found.evidence.method,
        "stopped_by": found.evidence.stopped_by,
        "peak_mb": peak_mb,
        "reached": bool(near and seconds <= instance.seconds and in_memory and found.audit.holds),
        "audit": {
            "holds": found.audit.holds,
            "smallest_epsilon_per_km": finite(found.audit.smallest_epsilon_per_km),
            "violations": found.audit.violations,
            "infinite_ratios": found.audit.infinite_ratios,
        },
    }


def finite(number: float) -> float | None:
    """Return the number, or None for infinity, which JSON does not have."""
    return number if np.isfinite(number) else None


def closed_form_km(problem: ObfuscationProblem) -> float | None:
    """Return the loss of G·diag(G⁻¹1), None where it has a negative column."""
    rays = np.exp(-problem.epsilon_per_km * problem.distances_km)
    weights = np.linalg.solve(rays, np.ones(len(rays)))
    if weights.min() < 0:
        return None
    return float((problem.costs * rays).sum(axis=0) @ weights)


def measured(method: str, instance: Instance, files: Files) -> Row:
    """Measure one method on one instance in a fresh process."""
    command = [sys.executable, __file__, "--child", method, instance.name]
    command += ["--prior", str(files.prior), "--points", str(files.points)]
    print(f"  {method} {instance.name}", end="", flush=True, file=sys.stderr)
    patience = PATIENCE.get(method)
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=patience)
    except subprocess.TimeoutExpired:
        row = _failure(instance, f"no matrix within {patience:g} s")
    else:
        # Peers print to standard output as they please; ours is the one line that is an object.
        lines = answer.stdout.splitlines()
        row = json.loads(next(x for x in lines if x.startswith(b'{"name"')))
    said = row.get("failure") or f"{row['seconds']:.2f} s"
    print(f": {said}", flush=True, file=sys.stderr)
    return row


def beside(peer: str, ours: Iterable[str], instance: Instance, files: Files) -> Row:
    """Measure a peer and us on the same instance, one after the other, alone."""
    theirs = measured(peer, instance, files)
    rows = {method: measured(method, instance, files) for method in ours}
    ratios = {
        method: theirs["solving_seconds"] / row["solving_seconds"]
        for method, row in rows.items()
        if "failure" not in theirs
    }
    name = f"{peer}-{instance.name}"
    return {"name": name, "peer": theirs, "ours": rows, "ratios": ratios, "goal": GOALS[peer]}


def run(wanted: Callable[[str], bool], files: Files, *, highs: bool) -> Row:
    """Measure everything wanted; what cannot be measured is listed under "skipped"."""
    skipped: list[str] = []

    def present(instances: Iterable[Instance], prefix: str = "") -> list[Instance]:
        chosen = [x for x in instances if wanted(prefix + x.name)]
        skipped.extend(
            f"{prefix}{x.name}: no file {files.lacks(x)}" for x in chosen if files.lacks(x)
        )
        return [x for x in chosen if not files.lacks(x)]

    failed: list[str] = []
    rows = each(lambda x: measured("exact", x, files), present(INSTANCES), failed)
    peers = present(BESIDE_QIF, "qif-")
    if find_spec("qif") is None:
        skipped += [f"qif-{x.name}: qif cannot be imported (pip install qif)" for x in peers]
        peers = []
    comparisons = each(lambda x: beside("qif", ["exact"], x, files), peers, failed)
    programs = present(ON_THE_PAPERS_PROGRAM, "highs-")
    if not highs:
        skipped += [f"highs-{x.name}: not asked for (--highs)" for x in programs]
        programs = []
    comparisons += each(lambda x: beside("highs", ["exact", "paper"], x, files), programs, failed)
    return {
        "instances": rows,
        "comparisons": comparisons,
        "growth": growth(rows),
        "skipped": skipped,
        "failed": failed,
    }


def each(
    measure: Callable[[Instance], Row], instances: Iterable[Instance], failed: list[str]
) -> list[Row]:
    """Measure one after the other; one that crashes is listed and does not stop the others."""
    rows = []
    for instance in instances:
        try:
            rows.append(measure(instance))
        except subprocess.CalledProcessError as error:
            method, name = error.cmd[-6:-4]
            failed.append(f"{method} {name}: exit code {error.returncode}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="PATTERN", help="names, such as 'k49*'")
    parser.add_argument("--quick", action="store_true", help="six small instances only")
    parser.add_argument("--highs", action="store_true", help="compare with HiGHS too (minutes)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument(
        "--prior", type=Path, default=PRIOR, help="counts, columns h3_res9, aligned_prior"
    )
    parser.add_argument("--points", type=Path, default=POINTS, help="check-ins of New York (SNAP)")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    files = Files(given.prior, given.points)
    if given.child:
        print(json.dumps(answer_of(*given.child, files)))
        return
    if given.list:
        print("\n".join(x.name for x in INSTANCES))
        print("\n".join(f"qif-{x.name}" for x in BESIDE_QIF))
        print("\n".join(f"highs-{x.name}" for x in ON_THE_PAPERS_PROGRAM))
        return
    patterns = QUICK if given.quick else given.only or ["*"]
    result = run(lambda name: any(fnmatch(name, x) for x in patterns), files, highs=given.highs)
    print(json.dumps(result, indent=2) if given.json else tables(result))
    if result["failed"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
