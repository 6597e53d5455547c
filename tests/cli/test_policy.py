"""``geocorgi policy``: a policy is explained, or the line that is wrong is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from geocorgi.device.attributes.own_places import OwnPlaces, read_own_places, write_own_places
from geocorgi.device.policy_example import EXAMPLE
from geocorgi.device.policy_file import KEYS, parse_policy
from geocorgi.device.policy_text import policy_toml
from geocorgi.synthetic.files import bundled_check_ins, bundled_truth
from geocorgi.wire.map_codec import encode_map
from tests.cli.command import said
from tests.device.network.loopback import answer, serving
from tests.wire.maps import LEAVES, small_map


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("GEOCORGI_DATA", str(folder))
    return folder


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    path = tmp_path / "map.json"
    path.write_bytes(encode_map(small_map(filters={"popular": LEAVES[::2]})))
    return path


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_policy_is_explained_in_plain_words(capsys, tmp_path):
    path = written(
        tmp_path,
        "privacy_level = 2\nrows = 'drop'\npreferences = [\n'home = False', \"popular = 'True'\",\n"
        "'distance ≤ 5 miles', { rule = \"weather != 'storm'\", unknown = 'remove' }]\n",
    )
    code, out, err = said(capsys, "policy", "check", path)
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    for sentence in (
        "hidden among the cells below one cell of level 2",
        "Never reported: 'home'; where that is not known nothing is reported (line 4).",
        "Only reported: cells that are 'popular'; where that is not known the cell stays (line 4).",
        "distance from the centre of the area that hides you is at most 5 miles (line 5).",
        "'weather' is not 'storm'; where that is not known the cell is removed (line 5).",
        "Standing in a removed place, nothing is reported.",
        "every report proves that you are not in a removed place",
    ):
        assert sentence in text


def test_the_notation_is_a_policy_too(capsys, tmp_path):
    path = tmp_path / "paper.txt"
    wanted = 'popular = "True", distance ≤ 5 miles'
    path.write_text(f"<privacy_l = 3, precision_l = 0, user_preferences = [{wanted}]>", "utf-8")
    found = json.loads(said(capsys, "policy", "check", path, "--json").out)
    assert found["notation"] == (
        "<privacy_l = 3, precision_l = 0, user_preferences = [popular = True, distance ≤ 5 miles]>"
    )
    assert parse_policy(found["toml"]) == parse_policy(path.read_text("utf-8"))
    assert found["on_map"] is None


def test_what_is_wrong_is_named_by_its_line(capsys, tmp_path):
    path = written(tmp_path, "privacy_level = 2\npreferences = [\n'home < 5']\n")
    code, out, err = said(capsys, "policy", "check", path)
    assert (code, out) == (2, "")
    assert err == "geocorgi: line 3: 'home' is compared with True or False\n"


def test_on_a_map_it_is_counted(capsys, tmp_path, data, map_file):
    path = written(
        tmp_path, "privacy_level = 1\npreferences = ['home = False', 'popular = True']\n"
    )
    code, out, err = said(capsys, "policy", "check", path, "--map", map_file)
    assert (code, out) == (2, "")
    assert "geocorgi policy places" in err
    write_own_places(OwnPlaces(home=(LEAVES[2],)), data)
    found = json.loads(said(capsys, "policy", "check", path, "--map", map_file, "--json").out)
    assert found["on_map"] == {
        "leaves": 49, "removed": 25, "subtrees": 7, "most_removed_of_a_subtree": 4, "emptied": 0,
        "rules": [
            {"rule": "home = False (line 2)", "removes": 1, "public": False},
            {"rule": "popular = True (line 2)", "removes": 24, "public": True},
        ],
        "filters": ["popular"],
        "notes": [],
    }  # fmt: skip
    shown = said(capsys, "policy", "check", path, "--map", map_file).out
    assert "25 of 49 leaves are removed, at most 4 in one of 7 subtrees." in shown
    assert not any(leaf in shown for leaf in LEAVES)


def test_sources_are_asked_or_offline_are_not(capsys, tmp_path, map_file):
    with serving(answer(json.dumps({LEAVES[0]: 1, LEAVES[1]: 3}).encode())) as server:
        path = written(
            tmp_path,
            "privacy_level = 2\npreferences = [{ rule = 'noise < 2', unknown = 'keep' }]\n"
            f"[source.noise]\nkind = 'number'\nurl = '{server.url}'\n",
        )
        words = ["policy", "check", path, "--map", map_file, "--json"]
        offline = json.loads(said(capsys, *words, "--offline").out)["on_map"]
        assert server.requests == []
        online = json.loads(said(capsys, *words).out)["on_map"]
    assert (offline["removed"], online["removed"]) == (0, 1)
    assert "offline" in offline["notes"][0]
    assert "47 of 49" in online["notes"][0]


def test_a_level_that_the_map_lacks_and_a_policy_that_looks_at_the_user(capsys, tmp_path, map_file):
    path = written(tmp_path, "privacy_level = 3")
    assert "privacy levels 1 to 2" in said(capsys, "policy", "check", path, "--map", map_file).err
    path = written(tmp_path, "privacy_level = 2\npreferences = ['distance < 2 km from me']")
    found = json.loads(said(capsys, "policy", "check", path, "--map", map_file, "--json").out)
    assert found["voids_geo_ind"]
    assert any("no epsilon holds" in sentence for sentence in found["warnings"])


def test_the_example_is_a_policy_and_shows_every_key(capsys):
    code, out, err = said(capsys, "policy", "example")
    assert (code, out, err) == (0, EXAMPLE, "")
    assert len(parse_policy(EXAMPLE).preferences) == 2
    for key in KEYS:
        assert re.search(rf"^#? *\[*{key}\b", EXAMPLE, re.MULTILINE), key


def test_the_example_means_what_it_says_with_every_line_switched_on(tmp_path):
    said_elsewhere = ("# A policy", "# A cell that")
    lines = [
        line if line.startswith(said_elsewhere) else re.sub(r"^( *)# ", r"\1", line)
        for line in EXAMPLE.splitlines()
        if not line.startswith(('# radius = "500', "# black_list = ", "# unit = "))  # either, or
    ]
    (tmp_path / "downtown.geojson").write_text('{"type": "Polygon"}')
    policy = parse_policy("\n".join(lines), tmp_path)
    assert len(policy.preferences) == 5
    assert policy.budget.ceiling_per_km == 60
    assert set(policy.sources) == {"weather"}
    assert parse_policy(policy_toml(policy)) == policy


def test_own_places_are_learned_kept_and_forgotten(capsys, data):
    truth = {known.user: known for known in bundled_truth()}[5]
    with bundled_check_ins() as path:
        code, out, err = said(capsys, "policy", "places", path, "--user", 5, "--json")
        assert (code, err) == (0, "")
        counted = json.loads(out)
        assert (counted["home"], counted["bad_rows"]) == (1, 0)
        assert "89283082" not in out
        shown = json.loads(
            said(capsys, "policy", "places", path, "--user", 5, "--show", "--json").out
        )
        assert shown["home"] == [truth.home_cell]
        assert "several people" in said(capsys, "policy", "places", path).err
    assert read_own_places(data).home == (truth.home_cell,)
    assert said(capsys, "policy", "places", "--forget").code == 0
    assert read_own_places(data) is None
    assert said(capsys, "policy", "places").code == 2


def test_every_command_shows_an_example(capsys):
    for word in ("check", "example", "places"):
        assert "Example: geocorgi policy" in said(capsys, "policy", word, "--help").out
