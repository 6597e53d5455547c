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
        _require_columns(file.collect_schema(), columns, path.name)
        named = wanted | columns.carried()
        rows = file.select(pl.col(theirs).alias(ours) for ours, theirs in named.items())
        total = rows.select(pl.len()).collect().item()
        for start in range(0, total, ROWS_A_SLICE):
            chunk = rows.slice(start, ROWS_A_SLICE).collect()
            yield _batch(chunk, columns, start + 1, path.name)
    except OSError as refusal:
        raise BadCheckins(f"{path.name} cannot be read: {refusal.strerror}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as refusal:
        # Its own words may quote the file's, hence not repeated and not chained.
        kind = type(refusal).__name__
        raise BadCheckins(f"{path.name} cannot be read as Parquet ({kind})") from None


def _batch(rows: pl.DataFrame, columns: Columns, first_row: int, source: str) -> Batch:
    rows = rows.with_columns(kind=pl.lit(None, pl.Int8))
    verdict = judged(rows, frozenset(columns.present()))
    places = np.arange(first_row, first_row + len(rows))
    report = DefectReport(source, len(rows), defects=tally(codes_of(verdict), places))
    carried = list(columns.carried())
    good = verdict.hstack(rows.select(carried)).filter(pl.col("kind").is_null())
    return Batch(good.select(*COLUMNS, *carried), report)


def _require_columns(schema: pl.Schema, columns: Columns, source: str) -> None:
    for theirs in (columns.present() | columns.carried()).values():
        if theirs not in schema:
            raise BadCheckins(f"{source}: expected a column named {theirs!r}; say what yours is")
    for ours, theirs in columns.present().items():
        kind = schema[theirs]
        fits = kind == pl.String or {
            "user": kind.is_integer(),
            "location": kind.is_integer(),
            "time": isinstance(kind, pl.Datetime),
        }.get(ours, kind.is_numeric())
        if not fits:
            raise BadCheckins(f"{source}: column {theirs!r} cannot be a {ours}; it holds {kind}")
