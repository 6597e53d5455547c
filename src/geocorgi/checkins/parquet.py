"""Check-ins from Parquet, a slice at a time. Lines are rows there, the first being 1.

Parquet keeps its table of contents at the end and its pages compressed, so a file that is cut or
corrupt is refused as a whole: there is no "before the break" that could be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geocorgi.checkins.defects import DefectReport, tally
from geocorgi.checkins.judgement import codes_of, judged
from geocorgi.checkins.layouts import COLUMNS, Columns
from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.rows import Batch
from geocorgi.errors import BadCheckins

ROWS_A_SLICE = 1 << 18


def parquet_batches(path: Path, columns: Columns) -> Iterator[Batch]:
    """Yield the rows of a Parquet file with the named columns."""
    wanted = columns.present()
    try:
        file = pl.scan_parquet(path, glob=False)
        _require_types(file.collect_schema(), wanted, path.name)
        rows = file.select(pl.col(theirs).alias(ours) for ours, theirs in wanted.items())
        total = rows.select(pl.len()).collect().item()
        for start in range(0, total, ROWS_A_SLICE):
            chunk = rows.slice(start, ROWS_A_SLICE).collect()
            yield _batch(chunk, frozenset(wanted), start + 1, path.name)
    except OSError as refusal:
        raise BadCheckins(f"{path.name} cannot be read: {refusal.strerror}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as refusal:
        # Its own words may quote the file's, hence not repeated and not chained.
        kind = type(refusal).__name__
        raise BadCheckins(f"{path.name} cannot be read as Parquet ({kind})") from None


def _batch(rows: pl.DataFrame, present: frozenset[str], first_row: int, source: str) -> Batch:
    rows = rows.with_columns(kind=pl.lit(None, pl.Int8))
    verdict = judged(rows, present)
    places = np.arange(first_row, first_row + len(rows))
    report = DefectReport(source, len(rows), defects=tally(codes_of(verdict), places))
    return Batch(verdict.filter(pl.col("kind").is_null()).select(COLUMNS), report)


def _require_types(schema: pl.Schema, wanted: dict[str, str], source: str) -> None:
    for ours, theirs in wanted.items():
        if theirs not in schema:
            raise BadCheckins(f"{source}: expected a column named {theirs!r}; say what yours is")
        kind = schema[theirs]
        fits = kind == pl.String or {
            "user": kind.is_integer(),
            "location": kind.is_integer(),
            "time": isinstance(kind, pl.Datetime),
        }.get(ours, kind.is_numeric())
        if not fits:
            raise BadCheckins(f"{source}: column {theirs!r} cannot be a {ours}; it holds {kind}")
