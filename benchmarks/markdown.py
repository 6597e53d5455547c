"""Tables and seconds as the page of the benchmarks writes them."""

from __future__ import annotations


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def seconds(number: float) -> str:
    return f"{number:.4f}" if number < 0.1 else f"{number:.2f}" if number < 100 else f"{number:.0f}"
