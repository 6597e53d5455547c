"""Any columns of a Parquet file, as plain values: tables that are no check-ins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geocorgi.checkins.polars_door import pl
from geocorgi.errors import BadFile


def parquet_names(path: Path) -> set[str]:
    """Return the names of the columns that a Parquet file has."""
    return set(_opened(path).collect_schema().names())


def parquet_rows(path: Path) -> int:
    """Return how many rows a Parquet file says that it has."""
    try:
        return int(_opened(path).select(pl.len()).collect().item())
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as refusal:
        raise _refused(path, refusal) from None


def parquet_columns(path: Path, names: Sequence[str], most_rows: int) -> list[tuple[Any, ...]]:
    """Return the rows of some columns, or refuse a file with too many of them."""
    try:
        rows = _opened(path).select(names).head(most_rows + 1).collect().rows()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as refusal:
        raise _refused(path, refusal) from None
    if len(rows) > most_rows:
        raise BadFile(f"{path.name} has more than {most_rows:,} rows")
    return rows


def _opened(path: Path) -> pl.LazyFrame:
    try:
        file = pl.scan_parquet(path, glob=False)
        file.collect_schema()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as refusal:
        raise _refused(path, refusal) from None
    return file


def _refused(path: Path, refusal: BaseException) -> BadFile:
    # Its own words may quote the file's, hence not repeated and not chained.
    return BadFile(f"{path.name} cannot be read as Parquet ({type(refusal).__name__})")
