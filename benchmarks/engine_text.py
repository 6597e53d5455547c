"""What the page of the benchmarks says of the engine: its goals, how it grows, what we found."""

from __future__ import annotations

from typing import Any

from markdown import seconds, table

Json = dict[str, Any]


def engine_text(sections: Json) -> str:
    rows = sections["engine"]["result"]["instances"]
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
    skipped = [x for x in sections["engine"]["result"]["skipped"] if x.startswith("k")]
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
        f"Square{_zeros(rows, 'new york')}."
        + "".join(f"\n\nLeft out: {line}." for line in skipped)
        + "".join(f"\n\nFailed: {line}." for line in sections["engine"]["result"]["failed"])
    )


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


def growth_text(sections: Json) -> str:
    fits = sections["engine"]["result"]["growth"]
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


def found_text(sections: Json) -> str:
    return "\n".join([FOUND.strip(), _closed_form_text(sections)]).strip()


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


def _closed_form_text(sections: Json) -> str:
    rows = sections["engine"]["result"]["instances"]
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
