"""The engine's measurements as tables on a terminal, and how its seconds grow."""

from __future__ import annotations

import numpy as np

Row = dict[str, object]


def growth(rows: list[Row]) -> list[Row]:
    """Fit seconds ~ K^exponent over the uniform priors, for each epsilon with all four sizes."""
    fitted = []
    for epsilon in (5, 15):
        names = [f"k{cells}-uniform-{epsilon}" for cells in (7, 49, 343, 2401)]
        points = [row for name in names for row in rows if row["name"] == name]
        if len(points) < len(names):
            continue
        cells = np.log([row["cells"] for row in points])
        exponents = {}
        for what in ("seconds", "solving_seconds"):
            taken = np.log([row[what] for row in points])
            exponents[what] = {
                "all": float(np.polyfit(cells, taken, 1)[0]),
                "from_343": float((taken[3] - taken[2]) / (cells[3] - cells[2])),
            }
        fitted.append({"epsilon_per_km": epsilon, "exponents": exponents})
    return fitted


def tables(result: Row) -> str:
    lines = [
        f"{'instance':<20}{'K':>5} {'prior':<9}{'eps':>4}{'goal gap':>9}{'& s':>6}{'loss km':>14}"
        f"{'bound km':>14}{'gap':>9}{'seconds':>9}{'building':>9}{'solving':>9}{'audit':>8}"
        f"{'rounds':>7}{'peak MB':>8}  reached  method"
    ]
    lines += [_line(row) for row in result["instances"]]
    lines += [line for x in result["comparisons"] for line in _beside_lines(x)]
    for x in result["growth"]:
        every, last = (x["exponents"]["seconds"][which] for which in ("all", "from_343"))
        lines.append(
            f"uniform, eps {x['epsilon_per_km']}: seconds ~ K^{every:.2f} over all four sizes, "
            f"K^{last:.2f} from 343 to 2,401"
        )
    lines += [f"left out: {line}" for line in result["skipped"]]
    return "\n".join(lines + [f"FAILED: {line}" for line in result["failed"]])


def _beside_lines(x: Row) -> list[str]:
    peer = x["peer"]
    if "failure" in peer:
        return [f"{x['name']}: {peer['failure']}"]
    return [
        f"{x['name']}: {peer['solving_seconds']:.3f} s against {method} "
        f"{row['solving_seconds']:.3f} s = {x['ratios'][method]:.0f}x (goal {x['goal']:.0f}x); "
        f"loss {peer['loss_km']:.10f} against {row['loss_km']:.10f}; "
        f"audit {_verdict(peer)} against {_verdict(row)}"
        for method, row in x["ours"].items()
    ]


def _line(row: Row) -> str:
    return (
        f"{row['name']:<20}{row['cells']:>5} {row['prior']:<9}{row['epsilon_per_km']:>4}"
        f"{row['goal']['gap']:>9.0e}{row['goal']['seconds']:>6g}{row['loss_km']:>14.9f}"
        f"{row['lower_bound_km']:>14.9f}{row['gap']:>9.1e}{row['seconds']:>9.3f}"
        f"{row['building_seconds']:>9.3f}{row['solving_seconds']:>9.3f}{row['audit_seconds']:>8.3f}"
        f"{row['rounds']:>7}{row['peak_mb']:>8.0f}  {'yes' if row['reached'] else 'NO':<7}  "
        f"{row['method']}, {row['stopped_by']}"
    )


def _verdict(row: Row) -> str:
    if row["audit"]["holds"]:
        return "holds"
    smallest = row["audit"]["smallest_epsilon_per_km"]
    return f"FAILS (true eps {'infinite' if smallest is None else repr(smallest)})"
