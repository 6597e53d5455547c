"""Tables of attributes, by cell or by point: CSV, Parquet, GeoJSON, or a JSON object of cells.

A row says where (a column ``cell``, or ``latitude`` and ``longitude``, or a geometry) and what (the
variable's column). Rows are only taken apart here; what they mean for leaves is
:mod:`geocorgi.device.attributes.gridding`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from geocorgi.errors import BadFile

LARGEST_BYTES = 100_000_000
MOST_ROWS = 2_000_000
POINT = ("latitude", "longitude")
Where = str | tuple[Any, Any] | dict[str, Any]


class Row(NamedTuple):
    """A cell, a point or a geometry, and what the table says of it; neither is believed yet."""

    where: Where
    value: Any


def read_table(path: Path, column: str) -> list[Row]:
    """Return the rows of a file."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise BadFile(f"{path.name} is larger than {LARGEST_BYTES:,} bytes")
        if path.suffix.lower() == ".parquet":
            return _parquet_rows(path, column)
        return rows_of(path.read_bytes(), column, path.name)
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from None


def rows_of(content: bytes, column: str, name: str) -> list[Row]:
    """Return the rows of CSV or JSON; ``name`` is what messages call it."""
    try:
        text = content.decode("utf-8-sig")
        rows = list(
            _json_rows(text, column) if text.lstrip()[:1] == "{" else _csv_rows(text, column)
        )
    except (ValueError, RecursionError, csv.Error, KeyError, TypeError, AttributeError):
        raise BadFile(
            f"{name} is no table: expected CSV with a column 'cell' (or 'latitude' and "
            f"'longitude') and a column '{column}', GeoJSON, or a JSON object of cells"
        ) from None
    if len(rows) > MOST_ROWS:
        raise BadFile(f"{name} has more than {MOST_ROWS:,} rows")
    return rows


def _csv_rows(text: str, column: str) -> Iterator[Row]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(rows, [])]
    at, value = [header.index(name) for name in _where(header)], header.index(column)
    for row in rows:
        if row:
            cells = [row[place].strip() if place < len(row) else "" for place in (*at, value)]
            yield _row(cells)


def _parquet_rows(path: Path, column: str) -> list[Row]:
    from geocorgi.checkins.columns import (  # noqa: PLC0415 - an extra that only Parquet needs
        parquet_columns,
        parquet_names,
    )

    names = parquet_names(path)
    if column not in names or not ({"cell"} <= names or set(POINT) <= names):
        raise BadFile(
            f"{path.name}: expected a column 'cell' (or 'latitude' and 'longitude') and a column "
            f"'{column}'"
        )
    found = parquet_columns(path, [*_where(sorted(names)), column], MOST_ROWS)
    return [_row(row) for row in found]


def _where(names: Sequence[str]) -> tuple[str, ...]:
    return ("cell",) if "cell" in names else POINT


def _row(fields: Sequence[Any]) -> Row:
    return Row(fields[0] if len(fields) == 2 else (fields[0], fields[1]), fields[-1])


def _json_rows(text: str, column: str) -> Iterator[Row]:
    found = json.loads(text)
    if found.get("type") != "FeatureCollection":
        for cell, value in found.items():
            yield Row(cell, value.get(column) if isinstance(value, dict) else value)
        return
    for feature in found["features"]:
        geometry, properties = feature["geometry"], feature.get("properties") or {}
        if "cell" in properties:
            yield Row(properties["cell"], properties.get(column))
        elif geometry["type"] == "Point":
            longitude, latitude = geometry["coordinates"][:2]
            yield Row((latitude, longitude), properties.get(column))
        else:
            yield Row(geometry, properties.get(column))
