"""docs/robust.md from a run of benchmarks/robust.py: every number comes from the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geocorgi.matrix.prunable import Rows
from markdown import seconds, table
from robust_instances import (
    CASES,
    DELTAS,
    EPSILONS,
    FILTERED_DELTAS,
    FILTERED_EPSILONS,
    GOALS,
    MOST_PRUNED,
    PASSING,
    PRIORS,
    PRUNINGS,
    TIMINGS,
    Case,
)

Json = dict[str, Any]


def page(run: Json) -> str:
    """Return the page."""
    parts = [
        HEAD,
        _made_text(run),
        _goals_text(run["rows"]),
        _times_text(run["rows"]),
        *_losses_texts(run["rows"]),
        _filters_text(run["rows"]),
        _violations_text(run["rows"]),
        TAIL,
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


HEAD = """
# Robust matrices

*Made by `make robust-docs` (`benchmarks/robust.py`); do not edit: every number below was measured
on the machine named here. Compare ratios between machines, not seconds.*

49 leaves of San Francisco (about 0.35 km apart), uniform targets. Losses are in km, of what is
published: ours sealed in integers and certified to survive every removal of up to δ cells. The
paper's way is its Algorithm 1 as printed: ten rounds, Eq. 14 with the row that its proof is about,
the graph of twelve neighbours, the cap of its authors' code; solved by our engine on the same
constraints. “Sparing”: the same if S of Eq. 14 never holds a row's own cell, which is kinder to it
and right where rows leave. It is judged by the same certificate over true distances: “true eps” is
the epsilon at which its matrix really is δ-prunable. What misses the epsilon asked for by a hair
misses it nevertheless; by how much is in the table.
"""

TAIL = """
## How to make this page anew

```
make robust-docs                             # the paper's counts where engine.py looks for them
make robust-docs PRIOR=path/to/counts.tsv
```

The run is kept in `.benchmarks/robust.json` row by row; an interrupted one goes on from there, and
a finished one writes the page again in a moment. To measure anew, remove that file. Single rows:
`python benchmarks/robust.py --only 'ours-uniform-drop-5-*'`; what can be asked for: `--list`.
"""


def _made_text(run: Json) -> str:
    known = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items())
    busy = run["load"] > 2.5 * known["cores"]
    missing = [one.name for one in (*CASES, *TIMINGS) if one.name not in run["rows"]]
    lines = [
        f"## The machine\n\n{known['processor']}, {known['cores']} cores, "
        f"{known['memory_gb']:.0f} GB of memory, {known['system']}. Python {known['python']}, "
        f"{versions}. The project at `{known['commit']}`. {len(run['rows'])} rows in "
        f"{run['seconds'] / 60:.0f} minutes, {known['cores']} at a time (seconds of the grid are "
        "those of a machine with all cores busy); what has a goal in seconds ran "
        "afterwards, one row at a time."
    ]
    if busy:
        lines.append(
            f"**The machine had other work at the time (a load of up to {run['load']:.1f}): the "
            "seconds are no better than that.**"
        )
    if missing:
        lines.append(f"**Not measured: {len(missing)} rows** ({', '.join(missing[:4])}, …).")
    return "\n\n".join(lines)


def _goals_text(rows: Json) -> str:
    lines = []
    for (epsilon, way, delta), goal in GOALS.items():
        row = rows.get(Case("ours", "uniform", epsilon, delta, way).name)
        if row is None:
            continue
        loss = row["loss_km"]
        reached = "yes" if loss <= goal else "**no**"
        about = [f"{epsilon:g}", way.value, f"{delta}", f"{goal:g}", f"{loss:.6f}", reached]
        lines.append([*about, f"{100 * (1 - loss / goal):.1f} %"])
    reached = sum(line[5] == "yes" for line in lines)
    return (
        f"## Losses to reach\n\nUniform prior. {reached} of {len(lines)} are reached.\n\n"
        + table(["eps /km", "rows", "δ", "goal km", "ours km", "reached", "below by"], lines)
    )


def _times_text(rows: Json) -> str:
    lines = []
    for timing in TIMINGS:
        row = rows.get(timing.name)
        if row is None:
            continue
        reached = "yes" if row["seconds"] <= timing.seconds else "**no**"
        loss = f"{row['loss_km']:.6f}" if "loss_km" in row else "–"
        lines.append(
            [timing.sentence, f"{timing.seconds:g}", seconds(row["seconds"]), reached, loss]
        )
    reached = sum(line[3] == "yes" for line in lines)
    return f"## Seconds to keep to\n\n{reached} of {len(lines)} are kept to.\n\n" + table(
        ["what", "goal s", "seconds", "reached", "loss km"], lines
    )


def _losses_texts(rows: Json) -> Iterator[str]:
    for prior in PRIORS:
        for way in Rows:
            text = _losses_text(rows, prior, way)
            if text:
                yield text


def _losses_text(rows: Json, prior: str, way: Rows) -> str:
    lines = [
        _beside(rows, Case("ours", prior, epsilon, delta, way))
        for epsilon in EPSILONS
        for delta in DELTAS
    ]
    known = [line for line in lines if line]
    if not known:
        return ""
    heads = ["eps /km", "δ", "paper km", "paper's true eps", "edges capped", "paper s"]
    heads += ["sparing km", "sparing's true eps"] if way is Rows.DROP else []
    heads += ["universal km", "ours km", "ours of universal", "our true eps", "ours s", "by"]
    return f"## {_title(prior, way)}\n\n" + table(heads, known)


def _title(prior: str, way: Rows) -> str:
    said = {Rows.DROP: "pruned rows leave (drop)", Rows.KEEP: "rows stay (keep)"}[way]
    return f"{prior.capitalize()} prior, {said}"


def _beside(rows: Json, case: Case) -> list[str]:
    ours = rows.get(case.name)
    papers = rows.get(Case("paper", case.prior, case.epsilon_per_km, case.delta).name)
    if ours is None or papers is None or case.rows is None:
        return []
    judged = papers["rows"][case.rows.value]
    sparing = papers.get("sparing")
    kinder = [f"{sparing['loss_km']:.6f}", _epsilon(sparing)] if sparing else ["–", "–"]
    return [
        f"{case.epsilon_per_km:g}",
        f"{case.delta}",
        f"{papers['loss_km']:.6f}",
        _epsilon(judged),
        f"{papers['capped_edges']}" if papers["capped_edges"] else "–",
        seconds(papers["seconds"]),
        *(kinder if case.rows is Rows.DROP else []),
        f"{ours['universal_km']:.6f}",
        f"{ours['loss_km']:.6f}",
        f"{100 * ours['loss_km'] / ours['universal_km']:.0f} %",
        f"{ours['true_epsilon_per_km']:.6f}" if ours["holds"] else "**fails**",
        seconds(ours["seconds"]),
        ours["method"],
    ]


def _epsilon(judged: Json) -> str:
    epsilon = f"{judged['true_epsilon_per_km']:.6g}"
    return epsilon if judged["holds"] else f"**{epsilon}**"


def _filters_text(rows: Json) -> str:
    lines = [
        _filtered(row, prior, way, epsilon, delta)
        for prior in PRIORS
        for way in Rows
        for epsilon in FILTERED_EPSILONS
        for delta in FILTERED_DELTAS
        if (row := rows.get(Case("filter", prior, epsilon, delta, way).name))
    ]
    heads = ["prior", "rows", "eps /km", "δ private", "δ to prune all"]
    heads += ["pruned km", "filtered km", "saved", "by"]
    return (
        f"## What a public filter saves\n\n{PASSING} of the 49 leaves pass (uniform prior: every "
        "other one; Gowalla: the most visited). Filtered: all rows, only the columns that pass, δ "
        "for the user's own rules. Pruned: all 49 columns, δ large enough for the user to prune "
        "the rest as well, and the rest pruned. Both losses are over the rows that the pruned "
        "matrix has left, by their prior among each other.\n\n" + table(heads, lines)
        if lines
        else ""
    )


def _filtered(row: Json, prior: str, way: Rows, epsilon: float, delta: int) -> list[str]:
    saved = 1 - row["loss_km"] / row["pruned_loss_km"]
    return [
        prior,
        way.value,
        f"{epsilon:g}",
        f"{delta}",
        f"{49 - PASSING + delta}",
        f"{row['pruned_loss_km']:.6f}",
        f"{row['loss_km']:.6f}",
        f"**{100 * saved:.0f} %**",
        row["method"],
    ]


def _violations_text(rows: Json) -> str:
    heads = ["prior", "rows", "eps /km", "δ", "whose", *map(str, range(1, MOST_PRUNED + 1))]
    lines = [
        line
        for prior in PRIORS
        for way in Rows
        for epsilon in EPSILONS
        for delta in DELTAS
        for line in _violated(rows, Case("ours", prior, epsilon, delta, way))
    ]
    within = [
        share
        for case in CASES
        if case.what == "ours" and case.name in rows
        for share in rows[case.name]["violated"][: case.delta]
    ]
    return (
        "## What random prunings break\n\nThe share of all constraints (pairs of rows that are "
        f"left, columns that are left, true distances) that fail after {PRUNINGS} random prunings "
        f"of 1 to {MOST_PRUNED} cells, in per cent; the same prunings for both. Beyond δ nothing "
        f"is promised. Up to δ ours broke {sum(share > 0 for share in within)} times in "
        f"{len(within)} numbers.\n\n" + table(heads, lines)
    )


def _violated(rows: Json, case: Case) -> Iterator[list[str]]:
    papers = rows.get(Case("paper", case.prior, case.epsilon_per_km, case.delta).name)
    ours = rows.get(case.name)
    if case.rows is None or papers is None or ours is None:
        return
    about = [case.prior, case.rows.value, f"{case.epsilon_per_km:g}", f"{case.delta}"]
    for whose, shares in (
        ("paper", papers["rows"][case.rows.value]["violated"]),
        ("ours", ours["violated"]),
    ):
        yield [*about, whose, *(_percent(share) for share in shares)]


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.2g}"
