"""A list of places is read whole or refused by its line."""

from __future__ import annotations

import pytest

from geocorgi.errors import BadFile
from geocorgi.server.points_file import read_points

GOOD = "id,lat,lon,weight\nhome,37.7,-122.4,3\nwork,37.8,-122.5,0\n"


def written(tmp_path, text: str):
    path = tmp_path / "places.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("text", [GOOD, "\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD[:-1]])
def test_places_come_in_the_files_order(tmp_path, text):
    found = read_points(written(tmp_path, text))
    assert found.names == ("home", "work")
    assert found.points == ((37.7, -122.4), (37.8, -122.5))
    assert found.weights.tolist() == [3, 0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1"),
        ("a,b\n", "line 1"),
        (GOOD.splitlines()[0] + "\nx,1,1,1\n", "from 2 to 5,000 places"),
        (GOOD + "x,91,0,1\n", "line 4"),
        (GOOD + "x,1,1\n", "line 4"),
        (GOOD + "x,nan,1,1\n", "line 4"),
        (GOOD + "x,1,1,-1\n", "line 4"),
        (GOOD + "x,1,1,inf\n", "line 4"),
        (GOOD + ",1,1,1\n", "line 4"),
        (GOOD + "home,1,1,1\n", "an id twice"),
        (GOOD + "x" * 100_000 + "\n", "line 4"),
    ],
)
def test_a_bad_list_is_refused_by_its_line(tmp_path, text, what):
    with pytest.raises(BadFile, match=what):
        read_points(written(tmp_path, text))


def test_too_many_places_are_refused(tmp_path):
    rows = "".join(f"p{n},0,{n / 1000},1\n" for n in range(5_001))
    with pytest.raises(BadFile, match="from 2 to 5,000 places"):
        read_points(written(tmp_path, GOOD.splitlines()[0] + "\n" + rows))


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(BadFile, match=r"cannot read none\.csv"):
        read_points(tmp_path / "none.csv")
