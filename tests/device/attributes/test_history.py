"""The user's own history is read from every kind of file alike, and only hers."""

from __future__ import annotations

import gzip
from datetime import datetime

import polars as pl
import pytest

from geocorgi.device.attributes.habits import Visit
from geocorgi.device.attributes.history import read_history
from geocorgi.errors import BadFile, GeocorgiError, InvalidInput
from geocorgi.tree import cells
from tests.wire.maps import LEAVES

HOME, CAFE = LEAVES[3], LEAVES[30]
TIMES = ["2024-07-01T03:10:00Z", "2024-07-01T20:00:00Z", "2024-07-02T03:15:00Z"]
PLACES = [cells.centre(HOME), cells.centre(CAFE), cells.centre(HOME)]
VISITS = (
    Visit(HOME, datetime(2024, 6, 30, 20, 10)),  # noqa: DTZ001 - the place's own clock
    Visit(CAFE, datetime(2024, 7, 1, 13, 0)),  # noqa: DTZ001
    Visit(HOME, datetime(2024, 7, 1, 20, 15)),  # noqa: DTZ001
)
ROWS = list(zip(TIMES, PLACES, strict=True))
SNAP = "".join(f"me\t{time}\t{lat!r}\t{lng!r}\t7\n" for time, (lat, lng) in ROWS)
CSV = "time,latitude,longitude\n" + "".join(f"{t},{lat!r},{lng!r}\n" for t, (lat, lng) in ROWS)
GPX = (
    '<?xml version="1.0"?>\n<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1">'
    + "".join(
        f'<wpt lat="{lat!r}" lon="{lng!r}"><ele>3</ele><time>{t}</time><name>x</name></wpt>'
        for t, (lat, lng) in ROWS
    )
    + "</gpx>"
)


def track(*points):
    """Return a GPX track of (cell, time) points."""
    inner = "".join(
        '<trkpt lat="{!r}" lon="{!r}"><time>{}</time></trkpt>'.format(*cells.centre(cell), time)
        for cell, time in points
    )
    return f"<gpx><trk><trkseg>{inner}</trkseg></trk></gpx>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("all.txt", SNAP.encode()),
        ("all.tsv", SNAP.encode()),
        ("all.txt.gz", gzip.compress(SNAP.encode(), mtime=0)),
        ("all.csv", CSV.encode()),
        ("all.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("all.gpx", GPX.encode()),
    ],
)
def test_every_kind_of_file_tells_the_same(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    found = read_history(tmp_path / name, 9)
    assert found.visits == VISITS
    assert (found.rows, found.bad_rows) == (3, 0)
    assert HOME not in repr(found)


def test_parquet_too(tmp_path):
    latitudes, longitudes = zip(*PLACES, strict=True)
    rows = {"user": ["me"] * 3, "time": TIMES, "latitude": latitudes, "longitude": longitudes}
    pl.DataFrame(rows).write_parquet(tmp_path / "all.parquet")
    assert read_history(tmp_path / "all.parquet", 9).visits == VISITS


def test_of_several_people_one_is_named(tmp_path):
    path = tmp_path / "all.txt"
    path.write_text(SNAP + SNAP.replace("me\t", "you\t").splitlines()[0] + "\n")
    with pytest.raises(InvalidInput, match="--user"):
        read_history(path, 9)
    assert read_history(path, 9, "me").visits == VISITS
    assert len(read_history(path, 9, "you").visits) == 1
    with pytest.raises(InvalidInput, match="no visits of that user"):
        read_history(path, 9, "nobody")


def test_a_stay_in_a_track_is_a_visit_and_passing_through_is_none(tmp_path):
    path = tmp_path / "track.gpx"
    path.write_text(
        track(
            (HOME, "2024-07-01T03:00:00Z"),
            (HOME, "2024-07-01T04:30:00Z"),
            (CAFE, "2024-07-01T04:40:00Z"),
            (CAFE, "2024-07-01T04:49:59Z"),
            (LEAVES[9], "2024-07-01T05:00:00+00:00"),
            (LEAVES[9], "2024-07-01T05:10:00"),
        )
    )
    found = [(visit.leaf, visit.local_time.hour) for visit in read_history(path, 9).visits]
    assert found == [(HOME, 20), (HOME, 21), (LEAVES[9], 22)]


def test_points_that_cannot_be_read_are_counted(tmp_path):
    path = tmp_path / "track.gpx"
    bad = '<wpt lat="95" lon="0"><time>2024-07-01T03:00:00Z</time></wpt><wpt lat="x"/><wpt lon="1">'
    path.write_text(GPX.replace("</gpx>", f"{bad}<time>{'9' * 1000}</time></wpt></gpx>"))
    found = read_history(path, 9)
    assert (found.rows, found.bad_rows) == (6, 3)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gpx", '<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>'),
        ("a.gpx", "<gpx><trk>"),
        ("a.gpx", "nothing"),
        ("a.csv", "when,where\n1,2\n"),
        ("a.csv", ""),
        ("a.parquet", "PAR1"),
        ("a.doc", ""),
        ("a", ""),
    ],
)
def test_what_is_no_history_is_refused_without_repeating_it(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(BadFile) as refusal:
        read_history(tmp_path / name, 9)
    assert "nothing" not in str(refusal.value)
    with pytest.raises(GeocorgiError):
        read_history(tmp_path / f"none{name}", 9)
