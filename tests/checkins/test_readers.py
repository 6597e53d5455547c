"""Sources of check-ins: names of columns, Parquet, refusals, bounded memory, real data."""

import gzip
import subprocess
import sys
import zlib
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from geocorgi.checkins.defects import DefectReport, Kind
from geocorgi.checkins.readers import (
    POINTS,
    Columns,
    Layout,
    gather,
    inspect,
    read_csv,
    read_parquet,
    read_snap,
    read_text,
)
from geocorgi.errors import BadCheckins, InvalidInput, MissingExtra

REAL = Path(__file__).parents[3] / "shared" / "data"
ROW = "17\t2010-10-19T23:55:27Z\t37.76\t-122.43\t22847\n"
needs_real_data = pytest.mark.skipif(not REAL.exists(), reason="../shared/data is absent")


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_documented_row_is_read(tmp_path: Path) -> None:
    frame = gather(read_snap(written(tmp_path / "a.txt", ROW))).frame
    time = datetime(2010, 10, 19, 23, 55, 27, tzinfo=UTC)
    assert frame.rows() == [("17", time, 37.76, -122.43, "22847")]


def test_a_source_can_be_read_again_and_again(tmp_path: Path) -> None:
    source = read_snap(written(tmp_path / "a.txt", ROW * 3))
    assert inspect(source) == inspect(source) == DefectReport("a.txt", rows_in=3)


def test_an_empty_file_has_no_rows_and_an_empty_gzip_file_is_broken(tmp_path: Path) -> None:
    assert inspect(read_snap(written(tmp_path / "a.txt", ""))).broken_after_line is None
    assert inspect(read_snap(written(tmp_path / "a.txt.gz", ""))).broken_after_line == 0


def test_gzip_is_known_by_its_first_bytes_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(ROW.encode()))
    assert inspect(read_snap(path)).rows_good == 1


def test_plain_text_named_gz_is_broken_from_the_start(tmp_path: Path) -> None:
    report = inspect(read_snap(written(tmp_path / "a.gz", ROW)))
    assert (report.rows_in, report.broken_after_line) == (0, 0)


def test_anything_after_the_end_of_gzip_but_zeros_is_a_break(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.gz", gzip.compress(ROW.encode())
    path.write_bytes(packed + b"\0" * 999)
    assert inspect(read_snap(path)).broken_after_line is None
    path.write_bytes(packed + b"\0\0junk")
    assert inspect(read_snap(path)) == DefectReport("a.gz", rows_in=1, broken_after_line=1)


def test_a_wrong_checksum_keeps_the_rows_and_reports_the_break(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.gz", bytearray(gzip.compress(ROW.encode() * 9))
    packed[-6] ^= 1
    path.write_bytes(packed)
    assert inspect(read_snap(path)) == DefectReport("a.gz", rows_in=9, broken_after_line=9)
    with pytest.raises(BadCheckins, match="breaks after line 9"):
        inspect(read_snap(path, strict=True))


def test_a_row_cut_by_the_break_is_bad_though_it_looks_whole(tmp_path: Path) -> None:
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress((ROW + ROW[:-3]).encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
    path = tmp_path / "a.gz"
    path.write_bytes(packed)
    report = inspect(read_snap(path))
    assert [(d.kind, d.rows, d.first_lines) for d in report.defects] == [(Kind.CUT, 1, (2,))]
    assert (report.rows_good, report.broken_after_line) == (1, 1)


def test_csv_columns_are_found_by_name_in_any_order(tmp_path: Path) -> None:
    text = 'lon;who;"lat";when\r\n-122.4;"a;b";37.7;2010-10-19 16:55:27-07:00\r\n'
    columns = Columns(user="who", time="when", latitude="lat", longitude="lon", location=None)
    frame = gather(read_csv(written(tmp_path / "a.csv", text), columns, separator=";")).frame
    time = datetime(2010, 10, 19, 23, 55, 27, tzinfo=UTC)
    assert frame.rows() == [("a;b", time, 37.7, -122.4, None)]


def test_a_csv_file_without_its_columns_is_refused_without_repeating_its_first_line(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "a.csv", "17,2010-10-19T23:55:27Z,37.76,-122.43,22847\n")
    with pytest.raises(BadCheckins, match="expected one column named 'user', found 0") as refusal:
        inspect(read_csv(path))
    assert "37.76" not in str(refusal.value)


@pytest.mark.parametrize(
    "text", ["", "user,user,time,latitude,longitude,location\n", '"user\n', "user\n"]
)
def test_a_csv_header_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadCheckins, match=r"a\.csv"):
        inspect(read_csv(written(tmp_path / "a.csv", text)))


def test_points_without_visitors_are_a_layout(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "37.7\t-122.4\n37.7\n")
    gathered = gather(read_text(path, POINTS))
    assert gathered.frame.rows() == [(None, None, 37.7, -122.4, None)]
    assert gathered.report.rows_bad == 1


def test_one_column_cannot_be_two_parts_of_a_check_in() -> None:
    with pytest.raises(InvalidInput, match="name each once"):
        Columns(user="id", location="id")


@pytest.mark.parametrize("separator", ["", "ab", '"', "\n", "é"])
def test_a_separator_is_one_harmless_character(separator: str) -> None:
    with pytest.raises(InvalidInput, match="separator"):
        Layout(separator=separator)


def test_no_message_repeats_what_a_row_says(tmp_path: Path) -> None:
    row = "4242\t2010-10-19T23:55:27Z\t37.123456\tsecret\tcafe\n"
    path = written(tmp_path / "a.txt", row)
    with pytest.raises(BadCheckins) as refusal:
        inspect(read_snap(path, strict=True))
    for said in (str(refusal.value), str(inspect(read_snap(path))), repr(read_snap(path))):
        assert not any(part in said for part in ("4242", "37.1", "secret", "cafe"))


def test_a_file_that_is_not_there_is_refused_by_its_name_alone(tmp_path: Path) -> None:
    for read in (read_snap, read_csv, read_parquet):
        with pytest.raises(BadCheckins, match=r"^none\.txt cannot be read") as refusal:
            inspect(read(tmp_path / "none.txt"))
        assert str(tmp_path) not in str(refusal.value)


TABLE = pl.DataFrame(
    {
        "user": [1, 2, None, 4, 5, 6],
        "time": [datetime(2010, 1, 1)] * 4 + [None, datetime(2010, 1, 1)],  # noqa: DTZ001
        "latitude": [37.7, 95.0, 1.0, float("nan"), 1.0, 1.0],
        "longitude": [-122.4, 0.0, 0.0, 0.0, 0.0, -181.0],
        "location": ["a", "b", "c", "d", "e", "f"],
    }
)


def test_parquet_rows_are_judged_by_the_same_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TABLE.write_parquet(tmp_path / "a.parquet")
    for rows_a_slice in (2, 100):
        monkeypatch.setattr("geocorgi.checkins.parquet.ROWS_A_SLICE", rows_a_slice)
        gathered = gather(read_parquet(tmp_path / "a.parquet"))
        time = datetime(2010, 1, 1, tzinfo=UTC)
        assert gathered.frame.rows() == [("1", time, 37.7, -122.4, "a")]
        assert {d.kind: d.first_lines for d in gathered.report.defects} == {
            Kind.MISSING_FIELD: (3, 5),
            Kind.NOT_FINITE: (4,),
            Kind.LATITUDE: (2,),
            Kind.LONGITUDE: (6,),
        }
    with pytest.raises(BadCheckins, match=r"a\.parquet, line 2: latitude"):
        inspect(read_parquet(tmp_path / "a.parquet", strict=True))


def test_parquet_text_and_zoned_times_are_understood(tmp_path: Path) -> None:
    zoned = TABLE.head(1).with_columns(
        pl.col("time").dt.replace_time_zone("Asia/Tokyo").dt.cast_time_unit("ns"),
        pl.col("latitude").cast(pl.Float32),
        pl.col("longitude").cast(pl.String),
    )
    zoned.write_parquet(tmp_path / "a.parquet")
    (row,) = gather(read_parquet(tmp_path / "a.parquet")).frame.rows()
    assert row[1] == datetime(2009, 12, 31, 15, tzinfo=UTC)
    assert row[3] == -122.4


def test_parquet_without_its_columns_or_of_another_type_or_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    TABLE.rename({"user": "who"}).write_parquet(path)
    with pytest.raises(BadCheckins, match="expected a column named 'user'"):
        inspect(read_parquet(path))
    TABLE.with_columns(pl.col("latitude") > 0).write_parquet(path)
    with pytest.raises(BadCheckins, match="'latitude' cannot be a latitude"):
        inspect(read_parquet(path))
    TABLE.write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadCheckins, match="cannot be read as Parquet"):
        inspect(read_parquet(path))


PEAK = """
import sys
from pathlib import Path
from geocorgi.checkins.readers import inspect, read_snap
report = inspect(read_snap(sys.argv[1]))
(line,) = (x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM"))
print(report.rows_in, report.rows_bad, int(line.split()[1]) // 1024)
"""


def read_elsewhere(path: Path) -> list[int]:
    """Return rows in, rows bad and peak megabytes of a reading in a fresh process."""
    command = [sys.executable, "-c", PEAK, str(path)]
    return [*map(int, subprocess.run(command, check=True, capture_output=True).stdout.split())]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory needs /proc")
@pytest.mark.parametrize("filling", [b"x", b"\t", b"\n", b"\t\n", b"\xff\n", b'"'])
def test_hostile_files_are_read_in_bounded_memory(tmp_path: Path, filling: bytes) -> None:
    bomb = tmp_path / "bomb.gz"
    size = 100_000_000 if filling in (b"x", b"\t", b'"') else 8_000_000
    bomb.write_bytes(gzip.compress(filling * (size // len(filling)) + b"\n" + ROW.encode(), 1))
    rows_in, rows_bad, peak = read_elsewhere(bomb)
    assert rows_in - rows_bad == 1
    assert peak < 1_500


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory needs /proc")
def test_short_lines_under_a_wide_header_are_read_in_bounded_memory(tmp_path: Path) -> None:
    names = ["user", "time", "latitude", "longitude", "location", *map(str, range(1_000))]
    path = written(tmp_path / "wide.csv", ",".join(names) + "\n" + "1\n" * 400_000)
    code = PEAK.replace("read_snap", "read_csv")
    command = [sys.executable, "-c", code, str(path)]
    answer = subprocess.run(command, check=True, capture_output=True).stdout.split()
    assert [int(number) for number in answer[:2]] == [400_000, 400_000]
    assert int(answer[2]) < 1_500


def test_more_columns_than_any_check_in_could_need_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "wide.csv", "user,time,latitude,longitude,location" + ",x" * 1_020)
    with pytest.raises(BadCheckins, match="more than 1024 columns"):
        inspect(read_csv(path))


def test_lines_are_numbered_through_portions_and_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geocorgi.checkins.rows.FIELDS_AT_ONCE", 20)
    path = written(tmp_path / "a.txt", (ROW * 7 + "bad\n") * 3)
    (defect,) = inspect(read_snap(path)).defects
    assert defect.first_lines == (8, 16, 24)


def test_without_polars_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.delitem(sys.modules, "geocorgi.checkins.polars_door")
    with pytest.raises(MissingExtra, match=r"pip install 'geocorgi\[data\]'"):
        import geocorgi.checkins.polars_door  # noqa: F401, PLC0415


@needs_real_data
def test_the_real_files_are_read_without_a_defect() -> None:
    gathered = gather(read_snap(REAL / "gowalla_sf.txt.gz", strict=True))
    assert (len(gathered.frame), gathered.frame["user"].n_unique()) == (17_401, 333)
    assert inspect(read_snap(REAL / "gowalla_nyc.txt.gz", strict=True)).rows_good == 138_957


def test_columns_that_are_named_are_carried_along_as_they_are(tmp_path: Path) -> None:
    text = (
        'app,user,time,latitude,longitude\n"a,b",1,2010-10-19T23:55:27Z,30.2,-97.7\nc,2,bad,1,1\n'
    )
    text += ",3,2010-10-19T23:55:27Z,30.3,-97.8\n"
    columns = Columns(location=None, kept=("app",))
    from_csv = gather(read_csv(written(tmp_path / "a.csv", text), columns))
    assert from_csv.report.rows_bad == 1
    assert from_csv.frame["kept app"].to_list() == ["a,b", ""]
    assert from_csv.frame["user"].to_list() == ["1", "3"]
    table = pl.DataFrame(
        {"user": ["1", None], "time": ["2010-10-19T23:55:27Z"] * 2, "latitude": [1.0, 1.0],
         "longitude": [2.0, 2.0], "app": [7, 8]}
    )  # fmt: skip
    table.write_parquet(tmp_path / "a.parquet")
    from_parquet = gather(read_parquet(tmp_path / "a.parquet", columns))
    assert from_parquet.frame["kept app"].to_list() == [7]


def test_a_column_to_carry_is_there_and_is_no_part_of_a_check_in(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "user,time,latitude,longitude\n")
    with pytest.raises(BadCheckins, match="'app'"):
        inspect(read_csv(path, Columns(location=None, kept=("app",))))
    with pytest.raises(InvalidInput, match="name each once"):
        Columns(kept=("latitude",))
