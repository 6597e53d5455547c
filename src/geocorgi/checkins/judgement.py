"""Which rows are check-ins: the rules for values, the same for every kind of file.

* A time is ``2010-10-19T23:55:27Z``; a space for the ``T``, up to six decimals of a second and an
  offset such as ``-07:00`` are understood too. A time without a zone is taken to be UTC. Years run
  from 1000 to 2999 and there are no leap seconds.
* A coordinate is a decimal number in ASCII, with or without an exponent; no blanks around it.
* User and location are any text that is not empty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geocorgi.checkins.defects import KINDS, Kind
from geocorgi.checkins.layouts import COLUMNS
from geocorgi.checkins.polars_door import pl

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
NO_FINITE_NUMBER = r"^[+-]?(?i:nan|inf|infinity)$"
TIME = (
    r"^[12][0-9]{3}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$"
)
SECONDS_END = len("2010-10-19T23:55:27")
SCHEMA = pl.Schema(
    {
        "user": pl.String(),
        "time": pl.Datetime("us", "UTC"),
        "latitude": pl.Float64(),
        "longitude": pl.Float64(),
        "location": pl.String(),
    }
)


def code_of(kind: Kind) -> pl.Expr:
    """Return the number by which a column of kinds says ``kind``."""
    return pl.lit(KINDS.index(kind), pl.Int8)


def judged(rows: pl.DataFrame, present: frozenset[str]) -> pl.DataFrame:
    """Return the five columns in their true types, and ``kind``: a code, or null for a good row.

    ``rows`` has the ``present`` columns, as text or as a Parquet file types them, and ``kind``
    where a row is already known to be bad.
    """
    missing = pl.any_horizontal(_is_missing(name, rows.schema[name]) for name in sorted(present))
    read = rows.select(
        pl.when(missing).then(code_of(Kind.MISSING_FIELD)).alias("missing"),
        pl.col("kind"),
        *(_text(name, present) for name in ("user", "location")),
        *(_number(name, rows.schema[name]) for name in ("latitude", "longitude")),
        *(_unreadable(name, rows.schema[name]) for name in ("latitude", "longitude")),
    ).with_columns(_time(rows, present))
    bad_time = pl.col("time").is_null() if "time" in present else pl.lit(value=False)
    return read.select(*COLUMNS, kind=pl.coalesce("kind", "missing", _bad_value(bad_time)))


def codes_of(rows: pl.DataFrame) -> NDArray[np.int8]:
    """Return the column ``kind`` as an array, -1 for a good row."""
    return rows["kind"].fill_null(-1).to_numpy()


def _bad_value(bad_time: pl.Expr) -> pl.Expr:
    latitude, longitude = pl.col("latitude"), pl.col("longitude")
    return (
        pl.when(bad_time)
        .then(code_of(Kind.BAD_TIME))
        .when(pl.col("unreadable latitude") | pl.col("unreadable longitude"))
        .then(code_of(Kind.NOT_A_NUMBER))
        .when((latitude.is_finite() & longitude.is_finite()).not_())
        .then(code_of(Kind.NOT_FINITE))
        .when(latitude.abs() > 90)
        .then(code_of(Kind.LATITUDE))
        .when(longitude.abs() > 180)
        .then(code_of(Kind.LONGITUDE))
    )


def _is_missing(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    return (column.is_null() | (column == "")) if kind == pl.String else column.is_null()


def _text(name: str, present: frozenset[str]) -> pl.Expr:
    column = pl.col(name) if name in present else pl.lit(None)
    return column.cast(pl.String).alias(name)


def _number(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if kind != pl.String:
        return column.cast(pl.Float64)
    # What is not a finite number becomes NaN; _unreadable tells the two apart.
    return (
        pl.when(column.str.contains(NUMBER))
        .then(column.cast(pl.Float64, strict=False))
        .otherwise(float("nan"))
        .alias(name)
    )


def _unreadable(name: str, kind: pl.DataType) -> pl.Expr:
    unreadable = pl.lit(value=False)
    if kind == pl.String:
        column = pl.col(name)
        unreadable = column.str.contains(NUMBER).or_(column.str.contains(NO_FINITE_NUMBER)).not_()
    return unreadable.alias(f"unreadable {name}")


def _time(rows: pl.DataFrame, present: frozenset[str]) -> pl.Series:
    if "time" not in present:
        return pl.Series("time", [None] * len(rows), SCHEMA["time"])
    time = rows["time"]
    if isinstance(time.dtype, pl.Datetime):
        naive = time.dtype.time_zone is None
        aware = time.dt.replace_time_zone("UTC") if naive else time.dt.convert_time_zone("UTC")
        return aware.dt.cast_time_unit("us")
    return _utc(pl.select(pl.when(time.str.contains(TIME)).then(time)).to_series())


def _utc(time: pl.Series) -> pl.Series:
    """Return times of the grammar TIME as UTC; null where the calendar has no such day."""
    written = time.str.slice(0, SECONDS_END).str.replace(" ", "T", literal=True)
    utc = written.str.to_datetime("%Y-%m-%dT%H:%M:%S", time_unit="us", strict=False)
    zone = time.str.slice(SECONDS_END)
    if not zone.is_in(["Z", ""]).all():  # rare and slow, hence not done for every block
        utc = utc + _fraction(zone) - _offset(zone)
    return utc.dt.replace_time_zone("UTC").alias("time")


def _fraction(zone: pl.Series) -> pl.Series:
    digits = zone.str.extract(r"^\.([0-9]+)").str.pad_end(6, "0").cast(pl.Int64).fill_null(0)
    return digits.cast(pl.Duration("us"))


def _offset(zone: pl.Series) -> pl.Series:
    hours = zone.str.extract(r"([+-][0-9]{2}):").cast(pl.Int64).fill_null(0)
    minutes = zone.str.extract(r":([0-9]{2})$").cast(pl.Int64).fill_null(0)
    sign = zone.str.contains("-", literal=True).fill_null(value=False).cast(pl.Int64) * -2 + 1
    return ((hours * 60 + sign * minutes) * 60_000_000).cast(pl.Duration("us"))
