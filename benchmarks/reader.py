"""How fast check-ins are read and counted per leaf, and in how much memory.

Usage::

    python benchmarks/reader.py              # 6.4 million rows; about 2 minutes, 1.5 GB of disk
    python benchmarks/reader.py --rows 200000 --json

Files are generated in a temporary folder: every row lies in or around the tree of San Francisco
(seven in ten inside), with its own coordinates, which is the dear case: rows far away are told by
a box and cost no call of H3. Every measurement runs in a fresh process and reports its own wall
clock and peak resident memory. The baselines run in the same session on the same machine: a bare
pass of Polars over the plain file (`scan_csv`, every column parsed, no row judged) and the
standard library's csv module counting cells row by row on a slice (its seconds are scaled up).
The last column is seconds over those of the bare Polars pass: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from geocorgi.checkins.counts import leaf_counts
from geocorgi.checkins.readers import Checkins, read_parquet, read_snap
from geocorgi.tree.cells import cell_at, descendants
from machine import peak_bytes

ROOT, RESOLUTION = "86283082fffffff", 9
ROWS, SLICE = 6_400_000, 200_000
ROWS_A_PIECE = 400_000


def generate(folder: Path, rows: int) -> None:
    """Write the same rows plain, compressed and as Parquet."""
    random = np.random.default_rng(20101019)
    pieces = folder / "pieces"
    pieces.mkdir()
    with (
        (folder / "plain.txt").open("wb") as plain,
        gzip.open(folder / "packed.txt.gz", "wb", compresslevel=6) as packed,
    ):
        for start in range(0, rows, ROWS_A_PIECE):
            frame = _some_rows(random, start, min(ROWS_A_PIECE, rows - start))
            frame.write_parquet(pieces / f"{start:09}.parquet")
            text = frame.with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).write_csv(
                include_header=False, separator="\t", float_precision=10
            )
            plain.write(text.encode())
            packed.write(text.encode())
    pl.scan_parquet(pieces / "*.parquet").sink_parquet(folder / "table.parquet")


def _some_rows(random: np.random.Generator, start: int, rows: int) -> pl.DataFrame:
    seconds = random.integers(1_233_446_400, 1_287_792_000, rows)
    return pl.DataFrame(
        {
            "user": np.arange(start, start + rows) // 60,
            "time": pl.Series(seconds * 1_000_000).cast(pl.Datetime("us")),
            "latitude": random.normal(37.778, 0.018, rows),
            "longitude": random.normal(-122.42, 0.022, rows),
            "location": random.integers(8_000, 6_000_000, rows),
        }
    )


def count_plain(folder: Path) -> dict[str, int]:
    return _counted(read_snap(folder / "plain.txt"))


def count_gzip(folder: Path) -> dict[str, int]:
    return _counted(read_snap(folder / "packed.txt.gz"))


def count_parquet(folder: Path) -> dict[str, int]:
    return _counted(read_parquet(folder / "table.parquet"))


def _counted(checkins: Checkins) -> dict[str, int]:
    result = leaf_counts(checkins, descendants(ROOT, RESOLUTION))
    return {"rows": result.report.rows_good, "inside": int(result.counts.sum())}


def bare_polars(folder: Path) -> dict[str, int]:
    names = ["user", "time", "latitude", "longitude", "location"]
    scan = pl.scan_csv(
        folder / "plain.txt", has_header=False, separator="\t", quote_char=None, new_columns=names
    )
    summed = scan.select(pl.len().alias("rows"), pl.all().max()).collect()
    return {"rows": summed["rows"].item()}


def csv_module(folder: Path) -> dict[str, int]:
    cells: Counter[str] = Counter()
    with (folder / "plain.txt").open(encoding="utf-8", newline="") as file:
        for row, _ in zip(csv.reader(file, delimiter="\t"), range(SLICE), strict=False):
            cells[cell_at(float(row[2]), float(row[3]), RESOLUTION)] += 1
    return {"rows": cells.total()}


MEASURED: dict[str, Callable[[Path], dict[str, int]]] = {
    "bare polars scan": bare_polars,
    "csv module": csv_module,
    "SNAP plain": count_plain,
    "SNAP gzip": count_gzip,
    "Parquet": count_parquet,
}


def measure(name: str, folder: Path, rows: int) -> dict[str, object]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, __file__, "--child", name, "--folder", str(folder)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    seconds = answer["seconds"] * rows / answer["rows"]
    return {"what": name, **answer, "seconds": seconds, "microseconds_a_row": seconds / rows * 1e6}


def child(name: str, folder: Path) -> None:
    began = time.perf_counter()
    answer = MEASURED[name](folder)
    seconds = time.perf_counter() - began
    print(json.dumps({**answer, "seconds": seconds, "peak_mb": peak_bytes() / 1e6}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", choices=MEASURED, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.folder)
        return
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), given.rows)
        results = [measure(what, Path(name), given.rows) for what in MEASURED]
    for result in results:
        result["ratio"] = result["seconds"] / results[0]["seconds"]
    if given.json:
        print(json.dumps({"rows": given.rows, "results": results}, indent=2))
        return
    print(f"{given.rows:,} rows\n{'':<18}{'seconds':>9}{'us/row':>9}{'peak MB':>9}{'ratio':>8}")
    for row in results:
        print(
            f"{row['what']:<18}{row['seconds']:>9.2f}{row['microseconds_a_row']:>9.2f}"
            f"{row['peak_mb']:>9.0f}{row['ratio']:>8.1f}"
        )


if __name__ == "__main__":
    main()
