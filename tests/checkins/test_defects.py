"""Every row is accounted for: the readers against a slow, plain reading of the same bytes."""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.checkins import blocks
from geocorgi.checkins.defects import LINES_KEPT_A_KIND, Kind
from geocorgi.checkins.readers import SNAP, Checkins, Columns, Layout, gather, inspect, read_text
from geocorgi.errors import BadCheckins

CSV = Layout(Columns(latitude="lat", longitude="lng", location=None))
CSV_HEADER = b"lng,user,note,time,lat"
LONGEST = 300  # instead of 64 KiB, so that examples can break it
several = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@dataclass
class Plainly:
    """What the slow reader says."""

    rows: list[tuple[object, ...]] = field(default_factory=list)
    lines: dict[Kind, list[int]] = field(default_factory=dict)
    blank: int = 0

    @property
    def first_lines(self) -> dict[Kind, tuple[int, tuple[int, ...]]]:
        return {k: (len(v), tuple(v[:LINES_KEPT_A_KIND])) for k, v in self.lines.items()}


def read_plainly(text: bytes, layout: Layout, *, broken: bool = False) -> Plainly:
    result = Plainly()
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    unterminated = lines.pop() if lines[-1] == b"" else None
    cut = broken and unterminated is None
    first = 1
    names = layout.names
    if names is None:
        names, first, lines = tuple(lines[0].decode().rstrip("\r").split(",")), 2, lines[1:]
    for number, line in enumerate(lines, first):
        last = cut and number == first + len(lines) - 1
        verdict = Kind.CUT if last else judge_plainly(line, layout, names)
        if verdict is None:
            result.blank += 1
        elif isinstance(verdict, Kind):
            result.lines.setdefault(verdict, []).append(number)
        else:
            result.rows.append(verdict)
    return result


def judge_plainly(
    line: bytes, layout: Layout, names: tuple[str, ...]
) -> Kind | tuple[object, ...] | None:
    if len(line) > LONGEST:
        return Kind.TOO_LONG
    try:
        text = line.decode().removesuffix("\r")
    except UnicodeDecodeError:
        return Kind.BROKEN_TEXT
    if not text:
        return None
    fields = text.split(layout.separator)
    if layout.quoted and '"' in text:
        try:
            fields = next(csv.reader([text], delimiter=layout.separator, strict=True))
        except csv.Error:
            return Kind.BROKEN_QUOTES
    if len(fields) > len(names):
        return Kind.EXTRA_FIELD
    row = dict(zip(names, fields, strict=False))
    parts = {ours: row.get(theirs, "") for ours, theirs in layout.columns.present().items()}
    return Kind.MISSING_FIELD if "" in parts.values() else judge_values(parts)


def judge_values(parts: dict[str, str]) -> Kind | tuple[object, ...]:
    shape = r"[12]\d{3}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?"
    if not re.fullmatch(shape, parts["time"], re.ASCII):
        return Kind.BAD_TIME
    try:
        time = datetime.fromisoformat(parts["time"])
    except ValueError:
        return Kind.BAD_TIME
    time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    values = []
    for name in ("latitude", "longitude"):
        written = parts[name]
        plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", written, re.ASCII | re.I)
        if not plain and not re.fullmatch(r"[+-]?(nan|inf|infinity)", written, re.ASCII | re.I):
            return Kind.NOT_A_NUMBER
        values.append(float(written))
    if not all(abs(value) < float("inf") for value in values):
        return Kind.NOT_FINITE
    for value, most, kind in zip(values, (90, 180), (Kind.LATITUDE, Kind.LONGITUDE), strict=True):
        if abs(value) > most:
            return kind
    return (parts["user"], time, *values, parts.get("location"))


def same(checkins: Checkins, expected: Plainly) -> None:
    gathered = gather(checkins)
    report = gathered.report
    assert gathered.frame.rows() == expected.rows
    assert {d.kind: (d.rows, d.first_lines) for d in report.defects} == expected.first_lines
    assert report.blank_lines == expected.blank
    assert report.rows_good == len(expected.rows)
    assert report.rows_in == report.rows_good + report.rows_bad


# Values of which each may be the one odd thing in a row, blank separated; some are in order.
NUMBERS = (
    "37.7 95 -95 90 -90 90.0001 180 -180 -180.5 180.5 nan -INF Infinity 1e400 -1e-400 +1. .5 1e1 "
    "1_0 0x1p3 - . e5 1e ١٢ 1,5 12\x00 --3 1.2.3 \ufeff1"
)
TIMES = (
    "2010-02-29T00:00:00Z 2012-02-29T00:00:00Z 2010-10-19T24:00:00Z yesterday 20101019 "
    "2010-10-19T23:55:60Z 0010-10-19T23:55:27Z 2010-1-19T23:55:27Z 2010-10-19 3010-01-01T00:00:00Z "
    "2010-10-19T23:55:27z 2010-10-19T23:55:27+05:45 2010-10-19T23:55:27-07:30 2010-10-19T23:55:27 "
    "2010-10-19T23:55:27.25-00:30 2010-10-19T23:55:27.1234567Z 2010-10-19T23:55:27.123456Z "
    "2010-10-19T23:55:27+24:00 2010-13-01T00:00:00Z 2010-00-01T00:00:00Z 2010-10-19T23:55:27ZZ"
)
WORDS = ['"', 'a"b', '"x,y"', '"a""b"', '"ab', '"a"b', "é", "\u2028", " ", "x" * LONGEST]
ODD = {
    "numbers": [*NUMBERS.split(" "), "", " 3", "3 ", "3\r", '"3"', '" 3"'],
    "times": [
        *TIMES.split(" "),
        "",
        " 2010-10-19T23:55:27Z",
        "2010-10-19 23:55:27",
        "2010-10-19T23:55:27 Z",
    ],
    "words": [*WORDS, ""],
}
ODD_LINES = [
    *(b"", b"\r", b"\r\r", b" ", b"1\t2", b"\x00", b"a\rb", b",,,,,", b",,,,", b"\t\t\t\t"),
    *(b"\xff\xfe", b"1\t\xc3\t3\t4\t5", b"1,\xc3,3,4,5", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    *(b"y" * (LONGEST - 1), b"y" * LONGEST, b"y" * (LONGEST + 1), b"z" * (2 * LONGEST)),
]
SNAP_ROW = {"words": (0, 4), "times": (1,), "numbers": (2, 3)}
CSV_ROW = {"words": (1, 2), "times": (3,), "numbers": (0, 4)}
GOOD = {"words": "17", "times": "2010-10-19T23:55:27Z", "numbers": "-12.5"}


def with_one_odd_value(shape: dict[str, tuple[int, ...]], separator: str) -> list[bytes]:
    """Return a good row, and every row that differs from it in one value, field too few or many."""
    good = {place: GOOD[kind] for kind, places in shape.items() for place in places}
    row = [good[place] for place in range(5)]
    rows = [row, row[:-1], row[:2], [*row, ""], [*row, "x"]]
    for kind, places in shape.items():
        rows += [[*row[:at], odd, *row[at + 1 :]] for at in places for odd in ODD[kind]]
    return [separator.join(fields).encode() for fields in rows]


SNAP_ROWS, CSV_ROWS = with_one_odd_value(SNAP_ROW, "\t"), with_one_odd_value(CSV_ROW, ",")
snap_row, csv_row = st.sampled_from(SNAP_ROWS), st.sampled_from(CSV_ROWS)


def files(row: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Draw files of rows and odd lines, line ends of both kinds, with or without the last."""
    line = st.tuples(
        st.one_of(row, row, st.sampled_from(ODD_LINES)), st.sampled_from([b"\n", b"\r\n"])
    )
    text = st.lists(line, max_size=25).map(lambda lines: b"".join(a + b for a, b in lines))
    return st.tuples(text, st.one_of(st.just(b""), row)).map(b"".join)


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geocorgi.checkins.blocks.LONGEST_LINE_BYTES", LONGEST)
    monkeypatch.setattr("geocorgi.checkins.rows.LONGEST_LINE_BYTES", LONGEST)


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        patch.setattr(blocks, "COMPRESSED_BYTES", max(1, size // 3))
        patch.setattr("geocorgi.checkins.rows.FIELDS_AT_ONCE", size // 2)
        yield


@pytest.mark.parametrize(("layout", "rows"), [(SNAP, SNAP_ROWS), (CSV, CSV_ROWS)])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_every_odd_value_and_line_is_judged_as_a_plain_reading_would(
    tmp_path: Path, layout: Layout, rows: list[bytes], end: bytes
) -> None:
    header = [] if layout.names else [CSV_HEADER]
    path = tmp_path / "made.txt"
    path.write_bytes(end.join([*header, *rows, *ODD_LINES, b""]))
    expected = read_plainly(path.read_bytes(), layout)
    same(read_text(path, layout), expected)
    never = {Kind.CUT} if layout.quoted else {Kind.CUT, Kind.BROKEN_QUOTES}
    assert set(expected.lines) == set(Kind) - never


@several
@given(text=files(snap_row), block=st.sampled_from([50, 333, 1 << 22]), mark=st.booleans())
def test_a_snap_file_is_read_as_a_plain_reading_would(
    tmp_path: Path, text: bytes, block: int, mark: bool
) -> None:
    path = tmp_path / "made.txt"
    path.write_bytes(b"\xef\xbb\xbf" * mark + text)
    checkins = read_text(path, SNAP)
    with blocks_of(block):
        same(checkins, read_plainly(path.read_bytes(), SNAP))


@several
@given(text=files(csv_row), block=st.sampled_from([50, 333, 1 << 22]), crlf=st.booleans())
def test_a_csv_file_is_read_as_a_plain_reading_would(
    tmp_path: Path, text: bytes, block: int, crlf: bool
) -> None:
    path = tmp_path / "made.csv"
    path.write_bytes(CSV_HEADER + b"\r" * crlf + b"\n" + text)
    checkins = read_text(path, CSV)
    with blocks_of(block):
        same(checkins, read_plainly(path.read_bytes(), CSV))


@several
@given(
    members=st.lists(files(snap_row), min_size=1, max_size=3),
    share=st.floats(0, 1),
    block=st.sampled_from([50, 333, 1 << 22]),
)
def test_rows_before_the_break_of_a_truncated_gzip_file_are_kept(
    tmp_path: Path, members: list[bytes], share: float, block: int
) -> None:
    packed = b"".join(gzip.compress(text, mtime=0) for text in members)
    packed = packed[: int(len(packed) * share)]
    text, whole = inflate_plainly(packed)
    path = tmp_path / "made.txt.gz"
    path.write_bytes(packed)
    checkins = read_text(path, SNAP)
    with blocks_of(block):
        same(checkins, read_plainly(text, SNAP, broken=not whole))
        lines = text.removeprefix(b"\xef\xbb\xbf").count(b"\n")
        assert inspect(checkins).broken_after_line == (None if whole else lines)


def inflate_plainly(packed: bytes) -> tuple[bytes, bool]:
    """Inflate byte by byte; return what comes out, and whether that is everything.

    An empty file never is.
    """
    text, whole, member = b"", False, zlib.decompressobj(31)
    for at in range(len(packed)):
        if member.eof:
            member = zlib.decompressobj(31)
        try:
            text += member.decompress(packed[at : at + 1])
        except zlib.error:
            return text, False
        whole = member.eof
    return text, whole


@several
@given(at=st.floats(0, 0.999), flip=st.integers(1, 255), block=st.sampled_from([300, 1 << 22]))
def test_rows_before_the_fault_of_a_corrupt_gzip_file_are_kept(
    tmp_path: Path, at: float, flip: int, block: int
) -> None:
    text = b"".join(b"%d\t2010-10-19T23:55:27Z\t37.7%d\t-122.4\t9\n" % (i, i) for i in range(80))
    packed = bytearray(gzip.compress(text, mtime=0))
    packed[int(at * len(packed))] ^= flip
    inflated, whole = inflate_plainly(packed)
    assert not whole or inflated == text  # a few bytes of the header mean nothing
    path = tmp_path / "made.gz"
    path.write_bytes(packed)
    checkins = read_text(path, SNAP)
    with blocks_of(block):
        same(checkins, read_plainly(inflated, SNAP, broken=not whole))
        assert (inspect(checkins).broken_after_line is None) == whole


@pytest.mark.parametrize("size", [1_000, 5_000, 1 << 22])
def test_a_truncated_file_that_inflates_greatly_is_kept_to_the_last_byte(
    tmp_path: Path, size: int
) -> None:
    packed = gzip.compress(b"17\t2010-10-19T23:55:27Z\t37.7\t-122.4\t9\n" * 1_000, mtime=0)
    path = tmp_path / "made.gz"
    for end in range(len(packed) - 30, len(packed) - 1):
        path.write_bytes(packed[:end])
        with blocks_of(size):
            same(
                read_text(path, SNAP),
                read_plainly(inflate_plainly(packed[:end])[0], SNAP, broken=True),
            )


@several
@given(text=files(snap_row))
def test_strict_refuses_exactly_the_files_that_have_a_defect(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "made.txt"
    path.write_bytes(text)
    expected = read_plainly(text, SNAP)
    if not expected.lines:
        assert inspect(read_text(path, SNAP, strict=True)).rows_good == len(expected.rows)
        return
    line, kind = min((lines[0], kind) for kind, lines in expected.lines.items())
    with pytest.raises(BadCheckins, match=f"^made.txt, line {line}: {re.escape(kind.value)}"):
        inspect(read_text(path, SNAP, strict=True))
