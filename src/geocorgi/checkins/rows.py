"""From a block of lines to a frame of good rows and an account of the bad ones.

A carriage return before the newline is part of the line end. A line with nothing else on it is
blank: no row, but counted. The last line of a plain file needs no newline; the last line before a
break in a compressed file is bad even if it looks complete, for nobody knows what it would have
said.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from geocorgi.checkins.blocks import LONGEST_LINE_BYTES, Block
from geocorgi.checkins.defects import DefectReport, Kind, tally
from geocorgi.checkins.judgement import code_of, codes_of, judged
from geocorgi.checkins.layouts import COLUMNS, Layout
from geocorgi.checkins.polars_door import pl
from geocorgi.errors import BadCheckins

MOST_COLUMNS = 1024
FIELDS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive good rows of a source, and the account of the rows they are from."""

    frame: pl.DataFrame
    report: DefectReport


def batches_of(blocks: Iterable[Block], layout: Layout, source: str) -> Iterator[Batch]:
    """Yield the rows of the blocks, which are consecutive blocks of the file ``source``."""
    names = layout.names
    places = None if names is None else _places(names, layout, source)
    for block in blocks:
        if names is None:
            names, block = _header(block, layout, source)  # noqa: PLW2901 - the rest of it
        if places is None:
            places = _places(names, layout, source)
        for portion in _portions(block, len(names)):
            yield _batch(portion, layout, (places, len(names)), source)
    if names is None:
        raise BadCheckins(f"{source} is empty; expected a first line that names the columns")


def _portions(block: Block, width: int) -> Iterator[Block]:
    """Yield the block in parts: many short lines under a wide header would fill the memory."""
    lines = max(1, FIELDS_AT_ONCE // (width + 1))
    for start in range(0, max(1, len(block.lines)), lines):
        last = start + lines >= len(block.lines)
        yield Block(
            block.first_line + start,
            block.lines[start : start + lines],
            broken=block.broken and last,
            cut=block.cut and last,
        )


def _batch(block: Block, layout: Layout, shape: tuple[dict[str, int], int], source: str) -> Batch:
    places, width = shape
    lines = _readable_lines(block)
    rows = lines.filter(pl.col("blank").not_())
    fields = _fields(rows, layout, width)
    extra = pl.when(pl.col(f"field_{width}").is_not_null()).then(code_of(Kind.EXTRA_FIELD))
    named = fields.select(
        *(pl.col(f"field_{place}").alias(ours) for ours, place in places.items()),
        kind=pl.coalesce("kind", extra),
    )
    verdict = judged(named, frozenset(layout.columns.present()))
    codes = codes_of(verdict)
    report = DefectReport(
        source,
        rows_in=len(rows),
        blank_lines=len(lines) - len(rows),
        defects=tally(codes, rows["line"].to_numpy()),
        broken_after_line=block.first_line + len(block.lines) - 1 - block.cut
        if block.broken
        else None,
    )
    carried = list(layout.columns.carried())
    whole = verdict.hstack(named.select(carried)) if carried else verdict
    good = whole if report.rows_bad == 0 else whole.filter(pl.col("kind").is_null())
    return Batch(good.select(*COLUMNS, *carried), report)


def _readable_lines(block: Block) -> pl.DataFrame:
    """Return line number, text without line end, whether it is blank, and what spoils a line."""
    raw = pl.Series("raw", block.lines, pl.Binary)
    lines = pl.DataFrame({"raw": raw, "text": _text(raw)}).with_row_index("line", block.first_line)
    last = block.first_line + len(block.lines) - 1
    cut = (pl.col("line") == last) & block.cut
    return lines.select(
        "line",
        "text",
        blank=((pl.col("text") == "") & cut.not_()).fill_null(value=False),
        kind=pl.when(cut)
        .then(code_of(Kind.CUT))
        .when(pl.col("raw").bin.size() > LONGEST_LINE_BYTES)
        .then(code_of(Kind.TOO_LONG))
        .when(pl.col("text").is_null())
        .then(code_of(Kind.BROKEN_TEXT)),
    )


def _text(raw: pl.Series) -> pl.Series:
    """Return the lines as text without carriage return; null where bytes are not UTF-8."""
    try:
        text = raw.cast(pl.String)
    except pl.exceptions.ComputeError:  # one broken line refuses the whole block
        text = pl.Series([_decoded(line) for line in raw], dtype=pl.String)
    return text.str.strip_suffix("\r")


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _fields(rows: pl.DataFrame, layout: Layout, width: int) -> pl.DataFrame:
    """Return ``kind`` and columns field_0 to field_<width>, null where a row has no such field."""
    split = rows["text"].str.split_exact(layout.separator, width).struct.unnest()
    plain = split.with_columns(rows["kind"])
    has_quote = rows["text"].str.contains('"', literal=True).fill_null(value=False)
    if not layout.quoted or not has_quote.any():
        return plain
    places = has_quote.arg_true()
    quoted = [_unquoted(text, layout.separator, width + 1) for text in rows["text"].gather(places)]
    broken = pl.Series([row is None for row in quoted])
    columns = {
        name: plain[name].scatter(places, [row[at] if row else None for row in quoted])
        for at, name in enumerate(split.columns)
    }
    kinds = (
        rows["kind"]
        .gather(places)
        .to_frame()
        .select(pl.coalesce("kind", pl.when(broken).then(code_of(Kind.BROKEN_QUOTES))))
    )
    return pl.DataFrame({**columns, "kind": rows["kind"].scatter(places, kinds.to_series())})


def _unquoted(text: str, separator: str, width: int) -> list[str | None] | None:
    """Return exactly ``width`` fields (None for those that are not there); None if unbalanced."""
    try:
        fields = next(csv.reader([text], delimiter=separator, strict=True))
    except csv.Error:
        return None
    return [*fields[:width], *[None] * (width - len(fields))]


def _header(block: Block, layout: Layout, source: str) -> tuple[tuple[str, ...], Block]:
    first = block.lines[0].removesuffix(b"\r") if block.lines else b""
    try:
        text = first.decode()
        names = next(csv.reader([text], delimiter=layout.separator, strict=True), [])
    except (UnicodeDecodeError, csv.Error) as refusal:
        raise BadCheckins(f"{source}, line 1: expected the names of the columns") from refusal
    return tuple(names), replace(
        block,
        first_line=block.first_line + 1,
        lines=block.lines[1:],
        cut=block.cut and len(block.lines) > 1,
    )


def _places(names: tuple[str, ...], layout: Layout, source: str) -> dict[str, int]:
    wanted = layout.columns.present() | layout.columns.carried()
    if len(names) > MOST_COLUMNS:
        raise BadCheckins(f"{source}, line 1: more than {MOST_COLUMNS} columns; leave some out")
    for theirs in wanted.values():
        # What the first line says instead is not repeated: without a header it is somebody's row.
        if names.count(theirs) != 1:
            raise BadCheckins(
                f"{source}, line 1: expected one column named {theirs!r}, found "
                f"{names.count(theirs)}; say what your columns are called"
            )
    return {ours: names.index(theirs) for ours, theirs in wanted.items()}
