"""Measure robust matrices, the paper's way against ours, and write docs/robust.md from the run.

Usage::

    python benchmarks/robust.py                   # a few rows
    make robust-docs                              # all of them, on all cores
    make robust-docs PRIOR=path/to/counts.tsv     # with the paper's counts from another place
    python benchmarks/robust.py --only 'ours-uniform-drop-5-*' --only 'paper-uniform-5-*' --json

The run is kept in a file (`--to`, .benchmarks/robust.json), written anew after every row: an
interrupted run goes on where it was. Rows of the grid run as processes, as many at a time as there
are cores; what has a goal in seconds is measured afterwards, alone, each in a fresh process.
`--page` writes the page from what the file holds, in a moment. Rows with the paper's counts
(`--prior`: a table with columns h3_res9 and aligned_prior) are left out where the file is missing,
and the page says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from engine import PRIOR
from machine import machine
from robust_instances import CASES, QUICK, TIMINGS, Case, Timing
from robust_measures import measured_case, measured_timing
from robust_page import page

ROOT = Path(__file__).resolve().parents[1]
PAGE, RUN = ROOT / "docs" / "robust.md", ROOT / ".benchmarks" / "robust.json"
Json = dict[str, Any]
BY_NAME: dict[str, Case | Timing] = {one.name: one for one in (*CASES, *TIMINGS)}


def child(name: str, prior: Path) -> Json:
    """Measure one row, here."""
    one = BY_NAME[name]
    return measured_case(one, prior) if isinstance(one, Case) else measured_timing(one, prior)


def in_a_process(name: str, prior: Path) -> Json:
    """Measure one row in a fresh process; a row that crashes is one that says so."""
    command = [sys.executable, __file__, "--child", name, "--prior", str(prior)]
    threads = os.environ if isinstance(BY_NAME[name], Timing) else os.environ | ONE_THREAD
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=threads)
    if done.returncode:
        return {"failure": f"exit code {done.returncode}"}
    found: Json = json.loads(done.stdout.splitlines()[-1])
    return found


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


def cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def rows_of(names: list[str], prior: Path) -> Iterator[tuple[str, Json]]:
    """Yield every row as it is done: the grid on all cores, then the timings one by one."""
    grid = [name for name in names if isinstance(BY_NAME[name], Case)]
    # The longest first, so that no core waits for the other at the end.
    grid.sort(key=lambda name: ("gowalla" not in name, "keep" not in name))
    with ThreadPoolExecutor(cores()) as pool:
        waiting = {pool.submit(in_a_process, name, prior): name for name in grid}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    for name in names:
        if name not in grid:
            yield name, in_a_process(name, prior)


def measure(run: Json, wanted: Callable[[str], bool], prior: Path, to: Path | None) -> None:
    """Measure what is wanted and not measured yet, keeping the run after every row."""
    chosen = [name for name in BY_NAME if wanted(name)]
    run["skipped"] = [name for name in chosen if "gowalla" in name and not prior.is_file()]
    missing = [name for name in chosen if name not in run["rows"] and name not in run["skipped"]]
    started = time.perf_counter()
    for count, (name, row) in enumerate(rows_of(missing, prior), 1):
        if "failure" not in row:
            run["rows"][name] = row
        taken = time.perf_counter() - started
        run["seconds"] += taken - run.pop("taken", 0.0)
        run["taken"] = taken
        run["load"] = max(run["load"], os.getloadavg()[0])
        keep(run, to)
        said = row.get("failure") or f"{row['seconds']:.2f} s"
        print(f"{count} of {len(missing)}, {name}: {said}, {taken:.0f} s so far", file=sys.stderr)
    run.pop("taken", None)


def keep(run: Json, path: Path | None) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def begun(to: Path | None) -> Json:
    """Return the run in the file, or a new one."""
    if to is not None and to.is_file():
        known: Json = json.loads(to.read_text(encoding="utf-8"))
        known.pop("taken", None)
        return known
    return {"machine": machine(), "rows": {}, "skipped": [], "seconds": 0.0, "load": 0.0}


def lines_of(run: Json, names: Iterable[str]) -> str:
    found = [(name, run["rows"][name]) for name in names if name in run["rows"]]
    return "\n".join(f"{name:<32}{_said(row)}" for name, row in found)


def _said(row: Json) -> str:
    numbers = {key: value for key, value in row.items() if isinstance(value, int | float)}
    return ", ".join(f"{key} {value:.6g}" for key, value in numbers.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="PATTERN", help="names of rows")
    parser.add_argument("--prior", type=Path, default=PRIOR, help="counts: h3_res9, aligned_prior")
    parser.add_argument("--to", type=Path, metavar="FILE", help="keep the run here, as JSON")
    parser.add_argument("--page", action="store_true", help="write docs/robust.md")
    parser.add_argument("--print", action="store_true", help="print the page of a run, and stop")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child, given.prior)))
        return
    if given.list:
        print("\n".join(BY_NAME))
        return
    if given.print:
        print(page(begun(given.to)))
        return
    patterns = given.only or (["*"] if given.page else QUICK)
    run = begun(given.to)
    measure(run, lambda name: any(fnmatch(name, x) for x in patterns), given.prior, given.to)
    if given.page:
        PAGE.write_text(page(run), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)
    elif given.json:
        print(json.dumps(run, indent=1))
    else:
        print(lines_of(run, BY_NAME))


if __name__ == "__main__":
    main()
