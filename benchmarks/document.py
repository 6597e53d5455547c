"""Run every benchmark and write docs/benchmarks.md and docs/figures/growth.svg.

Usage::

    make bench-docs                                        # half an hour on two cores
    python benchmarks/document.py --run --to FILE          # the same, by hand
    python benchmarks/document.py --from FILE              # from a finished run, in a moment
    python benchmarks/document.py --from FILE --run        # run only what the file lacks

`qif` is compared with where Python can import it. To have it without adding it to the
environment of the project::

    .venv/bin/python -m pip install --no-deps --target build/peers qif
    PYTHONPATH=build/peers make bench-docs

The measurements and the machine they were made on are kept together in FILE as JSON, written anew
after each program, so that an interrupted run goes on where it was. The page holds nothing typed by
hand but the sentences below; every number in it comes from FILE. A FILE that was put together from
parts says so under "note", and the page repeats it at its head.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from growth_figure import figure

ROOT = Path(__file__).resolve().parents[1]
PAGE, FIGURE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "figures" / "growth.svg"
PROGRAMS = {
    "engine": ["engine.py", "--only", "k*"],
    "qif": ["engine.py", "--only", "qif-*"],
    "highs": ["engine.py", "--only", "highs-*", "--highs"],
    "reader": ["reader.py"],
    "audit": ["audit.py"],
}
VERSIONS = ("numpy", "scipy", "highspy", "h3", "polars", "qif")
Json = dict[str, Any]


def measured(name: str) -> Json:
    """Run one benchmark; its JSON comes with how long it took and how busy the machine was."""
    program, *options = PROGRAMS[name]
    command = [sys.executable, str(ROOT / "benchmarks" / program), *options, "--json"]
    print(f"{name}: {program} {' '.join(options)}", flush=True, file=sys.stderr)
    before, started = os.getloadavg()[0], time.perf_counter()
    # A program in which a row failed says so by its exit code and in its answer.
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
    seconds, after = time.perf_counter() - started, os.getloadavg()[0]
    return {"result": json.loads(answer), "seconds": seconds, "load": [before, after]}


def machine() -> Json:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": pages * size / 1e9,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in VERSIONS},
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS"),
        "commit": _commit(),
    }


def _load(load: float | None) -> str:
    return "–" if load is None else f"{load:.1f}"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None


# ---- the page


def page(run: Json) -> str:
    parts = [
        HEAD,
        f"**{run['note']}**" if run.get("note") else "",
        _machine_text(run),
        _engine_text(run),
        _growth_text(run),
        _peers_text(run),
        _found_text(run),
        _audit_text(run),
        _reader_text(run),
        TAIL,
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


HEAD = """
# Benchmarks

*Made by `make bench-docs` (`benchmarks/document.py`); do not edit: every number below was
measured by the programs in `benchmarks/`, on the machine named here. Compare ratios between
machines, not seconds.*
"""

TAIL = """
## How to make this page anew

```
make bench-docs                                   # everything; without qif its rows say so
.venv/bin/python -m pip install --no-deps --target build/peers qif
PYTHONPATH=build/peers make bench-docs            # with qif
```

The run is kept in `.benchmarks/run.json`, and `python benchmarks/document.py --from` that file
writes the page again in a moment. Single rows: `python benchmarks/engine.py --only 'k49*'`; what
can be asked for: `--list`. Rows with real check-ins need the files, which are not part of the
project (`--prior`, `--points`).
"""


def _machine_text(run: Json) -> str:
    known = run["machine"]
    versions = ", ".join(
        f"{name} {version or '– (not there)'}" for name, version in known["versions"].items()
    )
    threads = known["blas_threads"]
    blas = "as the library chooses" if threads is None else f"`OPENBLAS_NUM_THREADS={threads}`"
    rows = [
        [f"`{name}`", f"{section['seconds'] / 60:.1f}", *map(_load, section["load"])]
        for name, section in run["sections"].items()
    ]
    total = sum(section["seconds"] for section in run["sections"].values())
    busy = max(max(x or 0.0 for x in section["load"]) for section in run["sections"].values())
    quiet = (
        "The machine had other work at the time: the seconds are no better than that."
        if busy > known["cores"] * 0.9
        else "The machine had little else to do."
    )
    return (
        f"## The machine\n\n{known['processor']}, {known['cores']} cores, "
        f"{known['memory_gb']:.0f} GB of memory, {known['system']}. Python {known['python']}, "
        f"{versions}. Threads of the linear algebra: {blas}. The project at "
        f"`{known['commit']}`.\n\n"
        + table(["program", "minutes", "load before", "load after"], rows)
        + f"\n\nAltogether {total / 60:.0f} minutes. Load is the number of processes that wanted a "
        f"core in the last minute, the benchmark itself included. {quiet}"
    )


def _engine_text(run: Json) -> str:
    rows = run["sections"]["engine"]["result"]["instances"]
    missed = [row for row in rows if not row["reached"]]
    said = (
        "Every goal is reached."
        if not missed
        else f"{len(rows) - len(missed)} of {len(rows)} goals are reached. Not reached: "
        + "; ".join(_miss(row) for row in missed)
        + "."
    )
    cells = [
        [
            f"{row['cells']:,}",
            row["prior"],
            f"{row['epsilon_per_km']:g}",
            f"{row['goal']['gap']:.0e} in {row['goal']['seconds']:g} s",
            f"{row['loss_km']:.8f}",
            f"{row['lower_bound_km']:.8f}",
            f"{row['gap']:.1e}",
            seconds(row["seconds"]),
            seconds(row["building_seconds"]),
            seconds(row["solving_seconds"]),
            seconds(row["audit_seconds"]),
            str(row["rounds"]),
            row["method"].partition("(")[2].rstrip(")"),
            f"{row['peak_mb']:,.0f}",
            "yes" if row["reached"] else "**no**",
        ]
        for row in rows
    ]
    heads = "K,prior,eps /km,goal,loss km,bound km,gap,seconds,building,solving,audit,rounds"
    skipped = [x for x in run["sections"]["engine"]["result"]["skipped"] if x.startswith("k")]
    return (
        "## The engine\n\nThe method `exact`: all pairs, true distances, uniform targets. "
        "`seconds` is from the cells to an audited matrix: building the problem with its costs, "
        "solving to the gap with a proved bound, and the exact audit. A goal is reached when gap "
        "and seconds are, the audit holds and, at K = 2,401, the peak is at most 8 GB. Every row "
        "is a fresh process. Where the first run takes under half a second the median of five is "
        "given. Rounds are of column generation; 0 means that the closed form was proved optimal "
        f"enough.\n\n{said}\n\n"
        + table([*heads.split(","), "by", "peak MB", "reached"], cells)
        + "\n\n“gowalla”: the paper's own counts, their order put right. “city”: a made-up "
        f"city{_zeros(rows, 'city')}. “new york”: real check-ins around Times "
        f"Square{_zeros(rows, 'new york')}." + "".join(f"\n\nLeft out: {line}." for line in skipped)
    )


def _failed(run: Json) -> list[str]:
    return [
        line
        for section in ("engine", "qif", "highs")
        for line in run["sections"].get(section, {"result": {}})["result"].get("failed", [])
    ]


def _zeros(rows: list[Json], prior: str) -> str:
    zeros = {row["places_of_prior_zero"] for row in rows if row["prior"] == prior}
    return f", {zeros.pop():,} of its places of prior zero" if zeros else ""


def _miss(row: Json) -> str:
    why = [f"{row['seconds']:.0f} s for a goal of {row['goal']['seconds']:g} s"]
    if row["gap"] > row["goal"]["gap"]:
        why = [f"gap {row['gap']:.1e} for a goal of {row['goal']['gap']:.0e}", *why]
    if row["goal"]["peak_mb"] and row["peak_mb"] > row["goal"]["peak_mb"]:
        why.append(f"{row['peak_mb']:,.0f} MB")
    if not row["audit"]["holds"]:
        why.append("the audit fails")
    return f"`{row['name']}` ({', '.join(why)})"


def _growth_text(run: Json) -> str:
    fits = run["sections"]["engine"]["result"]["growth"]
    if not fits:
        return ""
    rows = [
        [f"{fit['epsilon_per_km']:g}", what]
        + [f"K^{fit['exponents'][key][which]:.2f}" for which in ("all", "from_343")]
        for fit in fits
        for key, what in (("seconds", "all of it"), ("solving_seconds", "solving"))
    ]
    return (
        "## How it grows\n\nUniform prior, K = 7, 49, 343 and 2,401. The slope over all four "
        "sizes is flattered by the constant cost of the small ones; the last step is the one to "
        "plan with.\n\n![Seconds against K, both logarithmic](figures/growth.svg)\n\n"
        + table(["eps /km", "seconds of", "fitted over all", "from 343 to 2,401"], rows)
    )


def _peers_text(run: Json) -> str:
    return "\n\n".join(
        ["## Beside others", PEERS.strip(), _highs_text(run), _qif_text(run)],
    )


PEERS = """
Same instance, same run, one after the other. Seconds are from a built problem to a matrix, without
any audit. Then every matrix is audited exactly, over all pairs and the true distances; negative
entries of a peer's matrix are set to zero and its rows divided by their sums first, in its favour.
"""


def _highs_text(run: Json) -> str:
    found = run["sections"].get("highs", {"result": {"comparisons": []}})["result"]["comparisons"]
    rows = [
        [
            f"{x['peer']['cells']}",
            f"{x['peer']['epsilon_per_km']:g}",
            {"paper": "the same program", "exact": "all pairs, true distances"}[method],
            seconds(x["peer"]["solving_seconds"]),
            seconds(ours["solving_seconds"]),
            f"**{x['ratios'][method]:,.0f}×**",
            f"{x['peer']['loss_km']:.9f}",
            f"{ours['loss_km']:.9f}",
            f"{x['peer']['peak_mb']:,.0f} / {ours['peak_mb']:,.0f}",
            _promise(x["peer"]),
            _promise(ours),
        ]
        for x in found
        for method, ours in x["ours"].items()
    ]
    if not rows:
        return "### HiGHS on the paper's own program\n\nNot run."
    large = [x for x in found if x["peer"]["cells"] == 343]
    least = min(ratio for x in large for ratio in x["ratios"].values()) if large else 0
    goal = found[0]["goal"]
    verdict = "reached" if least >= goal else "not reached"
    heads = ["K", "eps /km", "we solve", "HiGHS s", "ours s", "ratio", "HiGHS loss km"]
    return (
        "### HiGHS on the paper's own program\n\nThe program as the paper prints it (Eq. 8: twelve "
        "neighbours, the smallest spacing for the edge length), by HiGHS, against our engine on "
        "the very same program and on the harder one that it approximates. Uniform prior. Goal: "
        f"{goal:.0f}× at K = 343, eps 15: {verdict} (the lesser ratio there: {least:,.0f}×).\n\n"
        + table([*heads, "our loss km", "peak MB", "HiGHS's true eps", "our true eps"], rows)
    )


def _qif_text(run: Json) -> str:
    found = run["sections"].get("qif", {"result": {"comparisons": []}})["result"]["comparisons"]
    head = "### qif over all pairs\n\n"
    if not found:
        return head + "Not run: qif could not be imported (`pip install qif`)."
    done = [x for x in found if x["ratios"]]
    near = [x for x in done if x["ratios"]["exact"] >= x["goal"]]
    dusty = sum(not x["peer"]["audit"]["holds"] for x in done)
    ours = sum(x["ours"]["exact"]["audit"]["holds"] for x in found)
    heads = "K,prior,eps /km,qif s,ours s,ratio,qif loss km,our loss km,our gap"
    return (
        head
        + "`qif.mechanism.d_privacy.min_loss_given_d`, distances and costs handed over as tables, "
        "with its own choice of solver and, where that one fails, others that it ships (only the "
        "seconds of the one that succeeds are counted). K = 64: the first 64 leaves of the tree of "
        f"343. It finds a matrix in {len(done)} of {len(found)} rows. Goal: "
        f"{found[0]['goal']:.0f}×: reached in {len(near)} of these {len(done)}. The exact audit "
        f"holds for {ours} of {len(found)} of our matrices and fails for {dusty} of {len(done)} of "
        "qif's; a loss below ours is then that of a matrix that is not private at the epsilon "
        "asked for.\n\n"
        + table(
            [*heads.split(","), "qif's true eps", "our true eps"], [_beside_qif(x) for x in found]
        )
        + "".join(f"\n\nLeft out: {x}." for x in run["sections"]["qif"]["result"]["skipped"])
    )


def _beside_qif(x: Json) -> list[str]:
    peer, ours = x["peer"], x["ours"]["exact"]
    failed = "failure" in peer
    return [
        f"{peer['cells']}",
        peer["prior"],
        f"{peer['epsilon_per_km']:g}",
        "fails" if failed else seconds(peer["solving_seconds"]),
        seconds(ours["solving_seconds"]),
        "–" if failed else f"**{x['ratios']['exact']:,.0f}×**",
        peer["failure"] if failed else f"{peer['loss_km']:.9f}",
        f"{ours['loss_km']:.9f}",
        f"{ours['gap']:.0e}",
        "–" if failed else _promise(peer),
        _promise(ours),
    ]


def _promise(row: Json) -> str:
    audit = row["audit"]
    smallest = audit["smallest_epsilon_per_km"]
    if smallest is None:
        return f"infinite ({audit['infinite_ratios']:,} ratios of something to nothing)"
    excess = smallest - row["epsilon_per_km"]
    said = f"eps {'+' if excess > 0 else '−'} {abs(excess):.1e}" if excess else "eps"
    return said if audit["holds"] else f"{said} ({audit['violations']:,} violations)"


def _found_text(run: Json) -> str:
    return "\n".join([FOUND.strip(), _closed_form_text(run)]).strip()


FOUND = """
## What we found

* **The bound is paid once a place, not once a column.** Duals are made feasible by lowering each by
  the largest demand that any column's proof left at its place. The sum of what was lowered is far
  smaller than the sum of all columns' prices, needs no entry to be at most one, and holds for any
  shipments, whatever the solver's tolerances: nothing that a solver says is believed.
* **The master is solved by an interior-point method with a proximal centre.** With the plain duals
  the search jumps for dozens of rounds; held near the best duals known it takes a handful.
* **Pricing is a small transport problem with gains.** Where a column's worth is positive is demand,
  where it is negative is capacity, and what is shipped arrives at the rate e^(−eps·d). Shipping
  from the nearest capacities proves most columns empty, all of them at once; the rest go to HiGHS
  as programs over their open demands only. Pairs whose rate is below 1e-7 of a capacity's best are
  cut: with coefficients of 1e8 the solver loses its footing, and fewer shipments can only make the
  proof weaker, never wrong.
* **Whether the closed form is feasible (x ≥ 0) depends on the distances and epsilon alone**, not on
  the prior; whether it is optimal depends on the prior too, and is for pricing to say.
"""


def _closed_form_text(run: Json) -> str:
    rows = run["sections"]["engine"]["result"]["instances"]
    known = [x for x in rows if x.get("closed_form_km") and x["cells"] > 7]
    worse = [x for x in known if x["closed_form_km"] > x["loss_km"] * (1 + 2 * x["gap"])]
    lines = [
        f"K = {x['cells']:,}, eps {x['epsilon_per_km']:g}: {x['closed_form_km']:.6f} km against "
        f"{x['loss_km']:.6f}"
        for x in worse
    ]
    if not known:
        return ""
    if not worse:
        return "* With a uniform prior the closed form is optimal in every row measured."
    return (
        f"* **With a uniform prior the closed form is optimal in {len(known) - len(worse)} of the "
        f"{len(known)} rows above K = 7 in which it is feasible, and not in:** {'; '.join(lines)}."
    )


def _audit_text(run: Json) -> str:
    if "audit" not in run["sections"]:
        return ""
    rows = [
        [
            f"{x['K']:,}",
            x["mechanism"],
            seconds(x["seconds"]),
            f"{x['peak_mb']:,.0f}",
            f"{x['times_plain_pass']:.2f}×",
        ]
        for x in run["sections"]["audit"]["result"]
    ]
    return (
        "## The exact audit\n\n`benchmarks/audit.py`. “slack” is the universal mechanism; “tight” "
        "is the closed form, whose every column touches its bound to the last bit, so that most "
        "is left to extended and rational arithmetic. The ratio is to one pass over the logarithms "
        "in floating point, which is wrong by a rounding error about half of the time on the tight "
        "one.\n\n" + table(["K", "mechanism", "seconds", "peak MB", "times a plain pass"], rows)
    )


def _reader_text(run: Json) -> str:
    if "reader" not in run["sections"]:
        return ""
    result = run["sections"]["reader"]["result"]
    rows = [
        [
            x["what"],
            seconds(x["seconds"]),
            f"{x['microseconds_a_row']:.2f}",
            f"{x['peak_mb']:,.0f}",
            f"{x['ratio']:.1f}×",
        ]
        for x in result["results"]
    ]
    return (
        f"## Reading check-ins\n\n`benchmarks/reader.py`, {result['rows']:,} made-up rows, seven "
        "in ten inside the tree. The ratio is to a bare pass of Polars that judges no row.\n\n"
        + table(["", "seconds", "µs a row", "peak MB", "times a bare pass"], rows)
    )


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def seconds(number: float) -> str:
    return f"{number:.4f}" if number < 0.1 else f"{number:.2f}" if number < 100 else f"{number:.0f}"


# ---- the program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="run the benchmarks")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="a finished run")
    parser.add_argument("--to", type=Path, metavar="FILE", help="keep the run as JSON")
    given = parser.parse_args()
    if not given.run and given.source is None:
        parser.print_help()
        return
    run: Json = {"machine": machine(), "sections": {}}
    if given.source is not None:
        run = json.loads(given.source.read_text(encoding="utf-8"))
    for name in PROGRAMS if given.run else ():
        if name not in run["sections"]:
            run["sections"][name] = measured(name)
            keep(run, given.to)
    write(run)


def keep(run: Json, path: Path | None) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def write(run: Json) -> None:
    PAGE.write_text(page(run), encoding="utf-8")
    result = run["sections"]["engine"]["result"]
    if result["growth"]:
        FIGURE.parent.mkdir(exist_ok=True)
        FIGURE.write_text(figure(result["instances"], result["growth"]), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)} and {FIGURE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
