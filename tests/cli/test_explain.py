"""``geocorgi explain``: what a policy comes to, and nothing is drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geocorgi.device.ledger import Ledger
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import encode_map, map_id
from tests.cli.command import said
from tests.cli.published import publish
from tests.device.forests import made, quick_forest
from tests.wire.maps import LEAVES, shard_map

Capsys = pytest.CaptureFixture[str]
LEAF = LEAVES[9]


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a folder with a map and forests, and a device that knows nothing yet."""
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("GEOCORGI_SERVER", raising=False)
    publish(tmp_path)
    (tmp_path / "here.txt").write_text(LEAVES[10], encoding="utf-8")
    return tmp_path


def explained(capsys: Capsys, device: Path, policy: str, *words: object) -> str:
    (device / "policy.toml").write_text(policy, encoding="utf-8")
    files = ["--map", device / "map.json", "--policy", device / "policy.toml"]
    code, out, err = said(capsys, "explain", *files, *words)
    assert (code, err) == (0, "")
    return out


def as_json(capsys: Capsys, device: Path, policy: str, *words: object) -> dict[str, Any]:
    words = words or ("--from", device / "here.txt")
    return json.loads(explained(capsys, device, policy, *words, "--json"))


HOME_REMOVED = f'privacy_level = 1\nblack_list = ["{LEAF}"]\n'


def test_what_is_removed_is_explained_with_its_reason(capsys: Capsys, device: Path) -> None:
    found = as_json(capsys, device, HOME_REMOVED)
    assert found["request"]["delta"] == 2
    assert found["delta"].startswith("2: the rules remove at most 1 cells of any subtree")
    assert found["here"]["never_reported"] == {LEAF: ["black list: 1 cells (line 2)"]}
    assert found["mechanism"] == "forest"
    (rule,) = found["rules"]
    assert (rule["cells_of_map"], rule["how"]) == (1, "on the device")


def test_what_a_report_is_worth_is_measured(capsys: Capsys, device: Path) -> None:
    here = as_json(capsys, device, HOME_REMOVED)["here"]
    guarantee, worth = here["guarantee"], here["usefulness"]
    assert 0 < guarantee["between_leaves_per_km"] <= guarantee["promised_per_km"] == 5.0
    assert 0 < worth["adversary_m"] <= worth["adversary_before_m"]
    assert worth["adversary_m"] <= worth["mean_distance_m"] * (1 + 1e-9)


def test_who_learns_what_is_said(capsys: Capsys, device: Path) -> None:
    found = as_json(capsys, device, HOME_REMOVED + 'rows = "drop"\n')
    assert any("privacy level 1, delta 2, rows drop" in one for one in found["server_learns"])
    assert any("from a silence" in one for one in found["recipient_learns"])
    assert any("across a subtree's border" in one for one in found["not_guaranteed"])


def test_a_wish_that_snaps_is_said(capsys: Capsys, device: Path) -> None:
    found = as_json(capsys, device, 'privacy_level = 1\n[protection]\nradius = "100 m"\n')
    assert found["wished_per_km"] == pytest.approx(13.86, abs=0.01)
    assert found["protection_radius_m"] == pytest.approx(277.3, abs=0.1)
    assert any("the choice is visible, the wish is not" in one for one in found["server_learns"])


def test_a_filter_is_said(capsys: Capsys, device: Path) -> None:
    found = as_json(capsys, device, "privacy_level = 2\npreferences = ['even = True']\n")
    assert found["request"]["filter"] == "even"
    assert found["rules"][0]["how"] == "by the public filter 'even' that is asked for"
    assert any("the filter 'even'" in one for one in found["server_learns"])


def test_what_choosing_a_shard_tells_is_said(capsys: Capsys, device: Path) -> None:
    part = shard_map()
    (device / "map.json").write_bytes(encode_map(part))
    for forest in device.glob("*.safetensors"):
        forest.unlink()
    request = request_for(map_id(part), CatalogueEntry(1, None, 0, Rows.KEEP, 5.0))
    (device / "one.safetensors").write_bytes(made(quick_forest, part, request))
    found = as_json(capsys, device, "privacy_level = 1\n")
    assert any("one shard of 2" in one for one in found["server_learns"])


def test_too_many_are_the_universal_mechanisms(capsys: Capsys, device: Path) -> None:
    listed = ", ".join(f'"{leaf}"' for leaf in LEAVES[:5])
    found = as_json(capsys, device, f"privacy_level = 1\nblack_list = [{listed}]\n")
    assert found["mechanism"] == "universal"
    assert "the forest is fetched and not used" in found["delta"]
    assert found["here"]["guarantee"]["between_leaves_per_km"] <= 5.0


def test_decoys_and_what_was_given_up_are_said(capsys: Capsys, device: Path) -> None:
    found = as_json(capsys, device, HOME_REMOVED + "decoys = true\n")
    assert [rule["rule"] for rule in found["rules"]][-1] == "decoys"
    assert list(found["here"]["never_reported"].values()).count(["a decoy"]) == 1
    given_up = (
        "privacy_level = 1\non_excess = 'fewer'\nprivate = true\npreferences = ['even = True']\n"
    )
    found = as_json(capsys, device, given_up)
    assert found["rules"][0]["how"].startswith("not kept")
    assert any("not kept" in one for one in found["not_guaranteed"])


def test_a_policy_that_looks_at_the_user_is_void(capsys: Capsys, device: Path) -> None:
    policy = "privacy_level = 1\npreferences = ['distance ≤ 800 m from me']\n"
    found = as_json(capsys, device, policy)
    assert found["here"]["guarantee"]["void"]
    assert any(one.startswith("geo-indistinguishability") for one in found["not_guaranteed"])


def test_without_a_place_only_what_holds_everywhere_is_said(capsys: Capsys, device: Path) -> None:
    assert as_json(capsys, device, HOME_REMOVED, "--nowhere")["here"] is None


def test_it_is_readable_too(capsys: Capsys, device: Path) -> None:
    out = " ".join(explained(capsys, device, HOME_REMOVED, "--from", device / "here.txt").split())
    for words in (
        "asked for level 1, rows keep",
        "black list: 1 cells (line 2)",
        f"never reported: {LEAF}",
        "where 5 was asked for: it holds",
        "The server learns",
        "Not guaranteed",
    ):
        assert words in out


def test_nothing_is_drawn_or_charged(capsys: Capsys, device: Path) -> None:
    explained(capsys, device, HOME_REMOVED, "--from", device / "here.txt")
    with Ledger(device / "data") as ledger:
        assert ledger.history() == ledger.charges() == ()


def test_where_the_user_is_is_drawn_only_if_she_asks(capsys: Capsys, device: Path) -> None:
    from_file = ("--from", device / "here.txt")
    silent = explained(capsys, device, HOME_REMOVED, *from_file)
    assert "U: you" not in silent
    drawn = explained(capsys, device, HOME_REMOVED, *from_file, "--draw").splitlines()
    shown = "\n".join(line for line in drawn if not line.strip(" ░▒▓█Ux"))
    assert shown.count("U") == 1
    assert shown.count("x") == 1
