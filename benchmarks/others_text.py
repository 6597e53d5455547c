"""What the page of the benchmarks says of the audit, the readers and releases in bulk."""

from __future__ import annotations

from typing import Any

from markdown import seconds, table

Json = dict[str, Any]


def audit_text(sections: Json) -> str:
    if "audit" not in sections:
        return ""
    rows = [
        [
            f"{x['K']:,}",
            x["mechanism"],
            seconds(x["seconds"]),
            f"{x['peak_mb']:,.0f}",
            f"{x['times_plain_pass']:.2f}×",
        ]
        for x in sections["audit"]["result"]
    ]
    return (
        "## The exact audit\n\n`benchmarks/audit.py`. “slack” is the universal mechanism; “tight” "
        "is the closed form, whose every column touches its bound to the last bit, so that most "
        "is left to extended and rational arithmetic. The ratio is to one pass over the logarithms "
        "in floating point, which is wrong by a rounding error about half of the time on the tight "
        "one.\n\n" + table(["K", "mechanism", "seconds", "peak MB", "times a plain pass"], rows)
    )


def reader_text(sections: Json) -> str:
    if "reader" not in sections:
        return ""
    result = sections["reader"]["result"]
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


def protect_text(sections: Json) -> str:
    if "protect" not in sections:
        return ""
    result = sections["protect"]["result"]
    rows = [
        [
            x["what"],
            seconds(x["seconds"]),
            seconds(x["processor_seconds"]),
            f"{result['rows'] / x['seconds']:,.0f}",
            f"{x['ratio']:.1f}×",
        ]
        for x in result["results"]
    ]
    heads = ["", "seconds", "processor's seconds", "rows a second", "times a bare pass"]
    return (
        f"## Releases in bulk\n\n`benchmarks/protect.py`, {result['rows']:,} rows of made-up "
        "people. The ratio is to a bare pass of Polars that reads and writes the same file.\n\n"
        + table(heads, rows)
    )
