"""How fast ``geocorgi protect`` releases rows, beside Polars merely reading and writing them.

Usage::

    python benchmarks/protect.py                    # 1 million rows; about a minute
    python benchmarks/protect.py --rows 100000 --json

Made-up people with eight places each and a receiver that jitters; one in four of their rows lies
outside the map. The forest is at hand (343 leaves, 5 per km, made before the clock starts). Each
measurement is a command in a fresh process, from its start to its last byte: `geocorgi protect`
with an empty memory, again with the memory that it left, and a bare pass of Polars that reads user,
time and place and writes user and time. The ratio is to that pass over the same file, in the same
run: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

ROOT, PLACES, ROWS_OF_A_USER = "86283082fffffff", 8, 60
GEOCORGI = [sys.executable, "-m", "geocorgi.cli.main"]
SERVER = [sys.executable, "-m", "geocorgi.server.cli"]
BARE = """
import sys, polars as pl
names, out = ["user", "time", "latitude", "longitude"], sys.argv[2]
scan = pl.scan_parquet if sys.argv[1].endswith("parquet") else pl.scan_csv
rows = scan(sys.argv[1]).filter(pl.col("latitude") > 0, pl.col("longitude") < 0)
rows.select("user", "time").collect().write_parquet(out)
"""


def generate(folder: Path, rows: int) -> None:
    """Write the same rows as CSV and as Parquet."""
    random = np.random.default_rng(20101019)
    users = random.integers(0, max(1, rows // ROWS_OF_A_USER), rows)
    shape = (int(users.max()) + 1, PLACES)
    at = users, random.integers(0, PLACES, rows)
    seconds = random.integers(1_233_446_400, 1_287_792_000, rows)
    frame = pl.DataFrame(
        {
            "user": users,
            "time": pl.Series(seconds * 1_000_000).cast(pl.Datetime("us")),
            "latitude": random.normal(37.778, 0.018, shape)[at] + random.normal(0, 3e-4, rows),
            "longitude": random.normal(-122.42, 0.022, shape)[at] + random.normal(0, 3e-4, rows),
        }
    )
    frame.write_parquet(folder / "rows.parquet")
    frame.with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).write_csv(
        folder / "rows.csv", float_precision=7
    )


def publish(folder: Path) -> None:
    """Make the map and the forest that the releases use."""
    offer = ["--level", "2", "--delta", "0", "--epsilon", "5"]
    only = ["--rows", "keep", "--out", "map.json"]
    subprocess.run(
        [*SERVER, "map", "--root", ROOT, *offer, *only], cwd=folder, check=True, capture_output=True
    )
    made = ["--map", "map.json", *offer, "--out", "forest.safetensors"]
    subprocess.run([*SERVER, "forest", *made], cwd=folder, check=True, capture_output=True)


def measure(what: str, command: list[str], folder: Path) -> dict[str, object]:
    """Run a command in a fresh process; return its seconds, its processor's, and its memory."""
    environment = os.environ | {"GEOCORGI_DATA": str(folder / "data")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    answer = json.loads(done.stdout)["rows"] if done.stdout.startswith("{") else {}
    return {"what": what, "seconds": seconds, "processor_seconds": spent, "rows": answer}


def measured(folder: Path) -> list[dict[str, object]]:
    results = []
    for kind in ("parquet", "csv"):
        source = f"rows.{kind}"
        bare = measure(f"polars, {kind}", [sys.executable, "-c", BARE, source, "bare"], folder)
        release = [*GEOCORGI, "protect", source, "out.parquet", "--map", "map.json", "--json"]
        release += ["--memory", f"users-{kind}"]
        results.append(bare | {"ratio": 1.0})
        for memory in ("new people", "known people"):
            one = measure(f"protect {kind}, {memory}", release, folder)
            results.append(one | {"ratio": one["seconds"] / bare["seconds"]})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), given.rows)
        publish(Path(name))
        results = measured(Path(name))
    if given.json:
        print(json.dumps({"rows": given.rows, "results": results}, indent=2))
        return
    print(f"{given.rows:,} rows\n{'':<31}{'seconds':>9}{'processor':>11}{'rows/s':>10}{'ratio':>7}")
    for row in results:
        print(
            f"{row['what']:<31}{row['seconds']:>9.2f}{row['processor_seconds']:>11.2f}"
            f"{given.rows / row['seconds']:>10,.0f}{row['ratio']:>7.1f}"
        )


if __name__ == "__main__":
    main()
