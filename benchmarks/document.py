"""Run every benchmark and write docs/benchmarks.md and docs/figures/growth.svg.

Usage::

    make bench-docs                            # about half an hour on two quiet cores
    python benchmarks/document.py --run        # the same, by hand
    python benchmarks/document.py              # write the page from the run that is kept
    python benchmarks/document.py --run --afresh

`qif` is compared with where Python can import it. To have it without adding it to the
environment of the project::

    .venv/bin/python -m pip install --no-deps --target build/peers qif
    PYTHONPATH=build/peers make bench-docs

What is measured is kept as JSON (`--kept`, .benchmarks/run.json) after every row, with the machine
and the state of the project that it was measured on. A run that was interrupted goes on where it
was; one on another machine, with other versions, or of another state of the project is begun
afresh. The page holds nothing typed by hand but its sentences: every number in it is from the run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine_instances import BESIDE_QIF, INSTANCES, ON_THE_PAPERS_PROGRAM
from engine_tables import growth
from engine_text import engine_text, found_text, growth_text
from growth_figure import figure
from machine import ROOT, Stretch, machine, machine_text
from others_text import audit_text, protect_text, reader_text
from peers_text import peers_text

PAGE, FIGURE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "figures" / "growth.svg"
KEPT = ROOT / ".benchmarks" / "run.json"
Json = dict[str, Any]

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

The run is kept in `.benchmarks/run.json` after every row: an interrupted one goes on where it was,
and `python benchmarks/document.py` writes the page from it again in a moment. Single rows:
`python benchmarks/engine.py --only 'k49*'`; what can be asked for: `--list`. Rows with real
check-ins need the files, which are not part of the project (`--prior`, `--points`).
"""


def steps() -> dict[str, tuple[str, list[str]]]:
    """Return what is to be measured, in order: a name, its section, and the command."""
    engine = {x.name: ("engine", ["engine.py", "--only", x.name]) for x in INSTANCES}
    qif = {f"qif-{x.name}": "qif" for x in BESIDE_QIF}
    highs = {f"highs-{x.name}": "highs" for x in ON_THE_PAPERS_PROGRAM}
    peers = {
        name: (section, ["engine.py", "--only", name, "--highs"])
        for name, section in (qif | highs).items()
    }
    alone = {name: (name, [f"{name}.py"]) for name in ("audit", "reader", "protect")}
    return engine | alone | peers


def measured(command: list[str]) -> Json:
    """Run one program; its JSON comes with how long it took and how busy others were."""
    program, *options = command
    asked = [sys.executable, str(ROOT / "benchmarks" / program), *options, "--json"]
    stretch = Stretch()
    # A program in which a row failed says so by its exit code and in its answer.
    answer = subprocess.run(asked, stdout=subprocess.PIPE, check=False).stdout
    seconds, others = stretch.end()
    return {"result": json.loads(answer), "seconds": seconds, "others": others}


def finish(run: Json, kept: Path) -> None:
    """Measure what the run lacks; keep it after every step."""
    for name, (_, command) in steps().items():
        if name not in run["steps"]:
            print(name, flush=True, file=sys.stderr)
            run["steps"][name] = measured(command)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def begun(kept: Path, *, afresh: bool) -> Json:
    """Return the kept run if it is of this machine and this state of the project."""
    here = machine()
    if kept.exists() and not afresh:
        run: Json = json.loads(kept.read_text(encoding="utf-8"))
        if run["machine"] == here:
            return run
        print("the kept run is of another machine or state: beginning afresh", file=sys.stderr)
    return {"machine": here, "steps": {}}


def sections(run: Json) -> Json:
    """Return the steps put together by section, with the sums of their seconds."""
    together: Json = {}
    for name, (section, _) in steps().items():
        if name in run["steps"]:
            together.setdefault(section, []).append(run["steps"][name])
    return {
        section: {
            "result": _joined([part["result"] for part in parts]),
            "seconds": sum(part["seconds"] for part in parts),
            "others": _share_of_others(parts),
        }
        for section, parts in together.items()
    }


def _share_of_others(parts: list[Json]) -> float | None:
    if any(part["others"] is None for part in parts):
        return None
    return sum(x["others"] * x["seconds"] for x in parts) / sum(x["seconds"] for x in parts)


def _joined(results: list[Any]) -> Any:
    if len(results) == 1 and not (isinstance(results[0], dict) and "instances" in results[0]):
        return results[0]
    whole: Json = {
        key: [one for result in results for one in result[key]]
        for key in ("instances", "comparisons", "skipped", "failed")
    }
    return whole | {"growth": growth(whole["instances"])}


def page(run: Json) -> str:
    """Return the page's text."""
    known = sections(run)
    parts = [
        HEAD,
        machine_text(run["machine"], known),
        engine_text(known),
        growth_text(known),
        peers_text(known),
        found_text(known),
        audit_text(known),
        reader_text(known),
        protect_text(known),
        TAIL,
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def write(run: Json) -> None:
    """Write the page and its figure."""
    PAGE.write_text(page(run), encoding="utf-8")
    result = sections(run)["engine"]["result"]
    if result["growth"]:
        FIGURE.parent.mkdir(exist_ok=True)
        FIGURE.write_text(figure(result["instances"], result["growth"]), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)} and {FIGURE.relative_to(ROOT)}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="measure what the kept run lacks")
    parser.add_argument("--afresh", action="store_true", help="with --run: measure everything")
    parser.add_argument("--kept", type=Path, default=KEPT, metavar="FILE", help="where the run is")
    given = parser.parse_args()
    if given.run:
        run = begun(given.kept, afresh=given.afresh)
        finish(run, given.kept)
    elif given.kept.exists():
        run = json.loads(given.kept.read_text(encoding="utf-8"))
    else:
        parser.error("there is no kept run to write the page from: add --run")
    write(run)


if __name__ == "__main__":
    main()
