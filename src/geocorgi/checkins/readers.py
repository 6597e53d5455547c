"""Check-ins: who was where and when, read lazily, with an account of every row that is not one.

A source is read anew, from the start and in bounded batches, each time it is asked: it holds no
rows. Each batch carries the account of its own rows; whoever adds the accounts up knows that
``rows_in == rows_good + rows_bad`` and where the first bad rows of each kind stand.

With ``strict`` the first bad row (or a break in the file) raises BadCheckins instead; batches
before it may have been handed out by then, results of whole passes have not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from geocorgi.checkins.blocks import blocks_of
from geocorgi.checkins.defects import DefectReport, refuse_defects
from geocorgi.checkins.judgement import SCHEMA
from geocorgi.checkins.layouts import POINTS, SNAP, Columns, Layout
from geocorgi.checkins.parquet import parquet_batches
from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.rows import Batch, batches_of

__all__ = [
    "POINTS",
    "SNAP",
    "Batch",
    "Checkins",
    "Columns",
    "Gathered",
    "Layout",
    "gather",
    "inspect",
    "read_csv",
    "read_parquet",
    "read_snap",
    "read_text",
]


class Checkins(Protocol):
    """Anything that check-ins can be read from, again and again."""

    @property
    def name(self) -> str:
        """The name that messages use: a file's name, never its folder."""

    def batches(self) -> Iterator[Batch]:
        """Yield all good rows in order, each batch with the account of the rows it is from.

        Columns: user, time (in UTC), latitude, longitude, location.
        """


@dataclass(frozen=True, slots=True)
class TextFile:
    """Check-ins in a text file, plain or gzip, in some layout."""

    path: Path
    layout: Layout
    strict: bool = False

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def batches(self) -> Iterator[Batch]:
        """Yield the good rows and the account of all."""
        return _checked(
            batches_of(blocks_of(self.path), self.layout, self.name), strict=self.strict
        )


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """Check-ins in a Parquet file."""

    path: Path
    columns: Columns
    strict: bool = False

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def batches(self) -> Iterator[Batch]:
        """Yield the good rows and the account of all."""
        return _checked(parquet_batches(self.path, self.columns), strict=self.strict)


@dataclass(frozen=True, slots=True)
class Gathered:
    """All good rows of a source in memory, and the account of all its rows."""

    frame: pl.DataFrame
    report: DefectReport


def read_snap(path: str | Path, *, strict: bool = False) -> TextFile:
    """Return the check-ins of a file in the SNAP layout: user, time, latitude, longitude, location.

    Tab separated, no header, times in UTC like ``2010-10-19T23:55:27Z``, plain or gzip.
    """
    return read_text(path, SNAP, strict=strict)


def read_csv(
    path: str | Path,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    *,
    separator: str = ",",
    strict: bool = False,
) -> TextFile:
    """Return the check-ins of a CSV file whose first line names its columns, plain or gzip."""
    return read_text(path, Layout(columns, separator), strict=strict)


def read_text(path: str | Path, layout: Layout, *, strict: bool = False) -> TextFile:
    """Return the check-ins of a text file in any layout, such as POINTS."""
    return TextFile(Path(path), layout, strict)


def read_parquet(
    path: str | Path,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    *,
    strict: bool = False,
) -> ParquetFile:
    """Return the check-ins of a Parquet file with the named columns."""
    return ParquetFile(Path(path), columns, strict)


def inspect(checkins: Checkins) -> DefectReport:
    """Read everything once and return the account of it."""
    report = DefectReport(checkins.name)
    for batch in checkins.batches():
        report += batch.report
    return report


def gather(checkins: Checkins) -> Gathered:
    """Read everything into memory (about 100 bytes a row)."""
    frames, report = list[pl.DataFrame](), DefectReport(checkins.name)
    for batch in checkins.batches():
        frames.append(batch.frame)
        report += batch.report
    return Gathered(pl.concat(frames or [pl.DataFrame(schema=SCHEMA)]), report)


def _checked(batches: Iterator[Batch], *, strict: bool) -> Iterator[Batch]:
    for batch in batches:
        if strict:
            refuse_defects(batch.report)
        yield batch
