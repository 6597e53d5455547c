"""About how many rows a file has, for whoever waits; a guess at most, and made at once."""

from __future__ import annotations

from pathlib import Path

from geocorgi.checkins.columns import parquet_rows
from geocorgi.errors import BadFile

LOOKED_AT = 1 << 20


def expected_rows(source: Path) -> int | None:
    """Return about how many rows there are, None where nobody can tell before reading them."""
    if source.suffix == ".parquet":
        return parquet_rows(source)
    if source.suffix == ".gz":
        return None
    try:
        size = source.stat().st_size
        with source.open("rb") as file:
            beginning = file.read(LOOKED_AT)
    except OSError as refusal:
        raise BadFile(f"cannot read {source.name}: {refusal.strerror}") from None
    lines = beginning.count(b"\n")
    return round(lines * size / len(beginning)) if lines else None
