"""``geocorgi report``: one location in, one cell out; every door, every shape, every refusal."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from geocorgi.tree import cells
from tests.cli.command import Said, said
from tests.cli.published import MAP, publish
from tests.wire.maps import LEAVES

Capsys = pytest.CaptureFixture[str]
LEAF = LEAVES[9]
LATITUDE, LONGITUDE = cells.centre(LEAF)
HERE = f"{LATITUDE:.6f},{LONGITUDE:.6f}"
HOME_REMOVED = f"""
privacy_level = 1
black_list = ["{LEAF}"]
"""


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a folder with a map and forests, and a device that knows nothing yet."""
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GEOCORGI_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GEOCORGI_SERVER", raising=False)
    publish(tmp_path)
    return tmp_path


def reported(capsys: Capsys, device: Path, *words: object, stdin: str = HERE) -> Said:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(stdin))
        return said(capsys, "report", "--map", device / "map.json", *words)


def answer(capsys: Capsys, device: Path, *words: object, **more: Any) -> dict[str, Any]:
    code, out, err = reported(capsys, device, *words, "--json", **more)
    assert (code, err) == (0, "")
    return json.loads(out)


def policy(device: Path, text: str) -> list[object]:
    (device / "policy.toml").write_text(text, encoding="utf-8")
    return ["--policy", device / "policy.toml"]


def test_a_location_on_standard_input_becomes_a_report(capsys: Capsys, device: Path) -> None:
    found = answer(capsys, device)
    cell = found["report"]["cell"]
    assert cell in LEAVES
    assert (found["report"]["latitude"], found["report"]["longitude"]) == cells.centre(cell)
    assert found["fresh"]
    assert found["guarantee"]["holds"]
    assert found["guarantee"]["between_leaves_per_km"] <= found["guarantee"]["promised_per_km"]


def test_the_same_place_is_answered_with_the_same_cell_free_of_charge(
    capsys: Capsys, device: Path
) -> None:
    first, second = answer(capsys, device), answer(capsys, device)
    assert second["report"] == first["report"]
    assert (first["fresh"], second["fresh"]) == (True, False)
    assert first["spent_per_km"] == second["spent_per_km"] == 5.0
    assert answer(capsys, device, "--anew")["spent_per_km"] == 10.0


def test_home_is_never_reported(capsys: Capsys, device: Path) -> None:
    options = policy(device, HOME_REMOVED)
    cells_seen = {answer(capsys, device, *options, "--anew")["report"]["cell"] for _ in range(20)}
    assert LEAF not in cells_seen
    assert len(cells_seen) > 1


def test_the_policy_of_the_data_folder_is_the_usual_one(capsys: Capsys, device: Path) -> None:
    (device / "data").mkdir()
    (device / "data" / "policy.toml").write_text("privacy_level = 2\nprecision_level = 1\n")
    assert answer(capsys, device)["report"]["level"] == 1


def test_a_report_can_be_drawn_on_a_map(capsys: Capsys, device: Path) -> None:
    code, out, _ = reported(capsys, device, "--geojson")
    feature = json.loads(out)
    ring = feature["geometry"]["coordinates"][0]
    assert code == 0
    assert feature["type"] == "Feature"
    assert ring[0] == ring[-1]
    assert len(ring) == 7
    assert all(-123 < longitude < -122 and 37 < latitude < 38 for longitude, latitude in ring)
    assert set(feature["properties"]) == {"cell", "latitude", "level", "longitude", "map_id"}


def test_a_report_can_be_the_cell_or_its_centre_alone(capsys: Capsys, device: Path) -> None:
    cell = answer(capsys, device)["report"]["cell"]
    assert reported(capsys, device, "--cell") == (0, f"{cell}\n", "")
    latitude, longitude = cells.centre(cell)
    assert reported(capsys, device, "--centre").out == f"{latitude:.6f},{longitude:.6f}\n"


def test_a_report_is_readable_too(capsys: Capsys, device: Path) -> None:
    code, out, err = reported(capsys, device)
    assert (code, err) == (0, "")
    for words in ("a cell of level 0", "its centre", "holds", "drawn and charged now", "24 hours"):
        assert words in out


def test_every_door_leads_to_the_same_place(capsys: Capsys, device: Path) -> None:
    (device / "here.txt").write_text(HERE + "\n", encoding="utf-8")
    first = answer(capsys, device)["report"]
    assert answer(capsys, device, "--from", device / "here.txt")["report"] == first
    for words in ([HERE], HERE.split(","), [LEAF]):
        code, out, err = reported(capsys, device, *words, "--json")
        assert code == 0
        assert json.loads(out)["report"] == first
        assert "warning: words of a command are seen by others" in " ".join(err.split())


def test_a_recipient_gets_its_own_precision(capsys: Capsys, device: Path) -> None:
    options = policy(device, "privacy_level = 2\n[recipient.weather]\nprecision_level = 1\n")
    fine = answer(capsys, device, *options)["report"]
    coarse = answer(capsys, device, *options, "--to", "weather")["report"]
    assert (fine["level"], coarse["level"]) == (0, 1)
    assert cells.ancestor(fine["cell"], MAP.leaf_resolution - 1) == coarse["cell"]


def test_at_the_ceiling_every_place_is_refused(capsys: Capsys, device: Path) -> None:
    options = policy(device, "privacy_level = 1\n[budget]\nceiling_per_km = 5.0\n")
    assert answer(capsys, device, *options)["fresh"]
    for place in (HERE, LEAVES[40]):
        code, out, err = reported(capsys, device, *options, stdin=place)
        assert (code, out) == (2, "")
        assert "ceiling" in err


def test_what_does_not_hold_is_said(capsys: Capsys, device: Path) -> None:
    options = policy(device, 'privacy_level = 2\nprecision_level = 1\nprecision = "average"\n')
    code, out, err = reported(capsys, device, *options)
    assert code == 0
    assert "does not hold" in " ".join(out.split())
    assert "averaging rows keeps" in err
    found = json.loads(reported(capsys, device, *options, "--json").out)
    assert not found["guarantee"]["holds"]


@pytest.mark.parametrize(
    ("words", "stdin", "says"),
    [
        ([], "", "no location came"),
        ([], "nowhere", "a real location is LAT,LON in degrees"),
        ([], "48.85,2.35", "lies in no leaf of this map"),
        (["--jsn"], HERE, "no option of this command"),
        (["--from", "none.txt"], HERE, "cannot read none.txt"),
        (["--gpsd", "gps.example:2947"], HERE, "this machine only"),
        (["--gpsd", "127.0.0.1:2947", HERE], HERE, "choose one of"),
        (["--policy", "none.toml"], HERE, "cannot read none.toml"),
        (["--forests", "none"], HERE, "no file and no folder"),
        (["--to", ""], HERE, "a recipient is a label"),
        (["--cell", "--json"], HERE, "choose one of --cell and --json"),
        (["--dwell", "1e300"], HERE, "--dwell"),
    ],
)
def test_a_refusal_is_one_sentence(
    capsys: Capsys, device: Path, words: list[str], stdin: str, says: str
) -> None:
    code, out, err = reported(capsys, device, *words, stdin=stdin)
    assert (code, out) == (2, "")
    assert says in " ".join(err.split())
    assert "Traceback" not in err


def test_a_map_has_to_be_named(capsys: Capsys, device: Path) -> None:
    assert device
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(HERE))
        assert "name the map" in said(capsys, "report").err
        patch.setattr("sys.stdin", io.StringIO(HERE))
        err = said(capsys, "report", "--forests", device).err
        assert "--forests go with the --map" in err


def test_a_forest_that_nobody_generated_is_named(capsys: Capsys, device: Path) -> None:
    options = policy(device, 'privacy_level = 2\nrows = "drop"\n')
    code, _, err = reported(capsys, device, *options)
    assert code == 2
    assert "has no forest for the map at level 2, delta 0, rows drop" in " ".join(err.split())
