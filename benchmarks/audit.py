"""How long the exact audit takes, and in how much memory, beside a plain pass over the logarithms.

Usage::

    python benchmarks/audit.py            # K = 49, 343 and 2,401; about 3 minutes
    python benchmarks/audit.py --json --largest 343

Two mechanisms at every size. "slack" is the universal mechanism, private with room to spare.
"tight" is the closed form G·diag(G⁻¹1), whose every column touches its bound K times to the last
bit, so that most of the work is left to extended and rational arithmetic: the dear case. The
baseline is what many tools do: the largest difference of logarithms over each pair, in floating
point, one row at a time; it is fast, and wrong by a rounding error about half of the time on the
tight one. Every measurement runs in a fresh process and reports its own peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from machine import peak_bytes

TREES = {49: ("872830828ffffff", 2), 343: ("86283082fffffff", 3), 2401: ("85283083fffffff", 4)}
EPSILON = 5.0


def mechanism(kind: str, size: int) -> tuple[ObfuscationMatrix, distances.Table]:
    leaves = LocationTree(*TREES[size]).leaves
    table = distances.between_cells(leaves)
    if kind == "slack":
        return exponential_matrix(leaves, table, EPSILON), table
    rays = np.exp(-EPSILON * table)
    closed = rays * np.linalg.solve(rays, np.ones(size))
    return ObfuscationMatrix(leaves, leaves, 0, closed), table


def plain_pass(probabilities: distances.Table, table: distances.Table) -> float:
    logs, worst = np.log(probabilities), 0.0
    for i in range(len(logs)):
        largest = (logs[i] - logs).max(axis=1)
        worst = max(worst, float(np.divide(largest, table[i], where=table[i] > 0).max()))
    return worst


def measure(how: str, kind: str, size: int) -> dict[str, float]:
    matrix, table = mechanism(kind, size)
    start = time.perf_counter()
    if how == "exact":
        audit(matrix, table, EPSILON)
    else:
        plain_pass(matrix.probabilities, table)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_mb": peak_bytes() / 1e6}


def in_fresh_process(how: str, kind: str, size: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", how, kind, str(size)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(answer.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--largest", type=int, default=2401, choices=TREES, help="largest K")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], options.one[1], int(options.one[2]))))
        return
    rows = []
    for size in (size for size in TREES if size <= options.largest):
        for kind in ("slack", "tight"):
            exact, plain = (in_fresh_process(how, kind, size) for how in ("exact", "plain"))
            ratio = exact["seconds"] / plain["seconds"]
            rows.append({"K": size, "mechanism": kind, **exact, "times_plain_pass": ratio})
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'K':>6}  {'mechanism':9}  {'seconds':>8}  {'peak MB':>8}  {'× plain pass':>12}")
    for row in rows:
        print(
            f"{row['K']:>6}  {row['mechanism']:9}  {row['seconds']:>8.2f}  "
            f"{row['peak_mb']:>8.0f}  {row['times_plain_pass']:>12.2f}"
        )


if __name__ == "__main__":
    main()
