"""``geocorgi epsilon``: a promise in metres as an epsilon, and the reverse."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from geocorgi.device import promise
from geocorgi.device.promise import epsilon_for_error, errors_of_forest, errors_of_universal
from geocorgi.errors import PolicyNotMet
from geocorgi.matrix.forest_file import write_forest
from geocorgi.matrix.prunable import Rows
from geocorgi.tree.priors import Priors
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import encode_map, map_id
from tests.cli.command import said
from tests.device.forests import quick_forest
from tests.wire.maps import LEAVES, small_map

MAP = small_map()


@pytest.fixture
def map_file(tmp_path):
    path = tmp_path / "map.json"
    path.write_bytes(encode_map(MAP))
    return path


def test_the_radius_is_where_the_factor_is_four(capsys):
    answer = json.loads(said(capsys, "epsilon", "--protect", "500m", "--json").out)
    assert math.exp(answer["radius"]["epsilon_per_km"] * 0.5) == pytest.approx(4)
    back = said(capsys, "epsilon", "--epsilon", answer["radius"]["epsilon_per_km"], "--json")
    assert json.loads(back.out)["radius"]["radius_km"] == pytest.approx(0.5)
    assert any("no prior" in sentence for sentence in answer["assumptions"])


@pytest.mark.parametrize("text", ["0.5 km", "500 m", "500metres"])
def test_a_length_may_be_written_in_any_unit(capsys, text):
    answer = json.loads(said(capsys, "epsilon", "--protect", text, "--json").out)
    assert answer["wish_km"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--protect", "500"], "length with its unit"),
        (["--protect", "5 hours"], "length with its unit"),
        ([], "say one of"),
        (["--protect", "5m", "--epsilon", "2"], "say one of"),
        (["--epsilon", "2", "--level", "1"], "go with a --map"),
        (["--epsilon", "-2"], "above 0"),
        (["--protect", "0 m"], "a positive length"),
    ],
)
def test_what_is_no_promise_is_refused(capsys, words, sentence):
    refused = said(capsys, "epsilon", *words)
    assert refused.code == 2
    assert sentence in refused.err


def test_a_promise_on_a_map_is_kept_there_and_not_just_above():
    found = epsilon_for_error(MAP, 2, 0.3)
    assert found.mean_km >= 0.3
    assert errors_of_universal(MAP, 2, found.epsilon_per_km * 1.001).mean_km < 0.3
    assert found.any_mechanism_km <= found.worst_subtree_km <= found.mean_km
    assert found.mean_km <= found.without_a_report_km


def test_what_not_even_silence_grants_is_refused_and_listed(map_file, capsys):
    with pytest.raises(PolicyNotMet, match="without any report"):
        epsilon_for_error(MAP, 1, 5.0)
    shown = said(capsys, "epsilon", "--protect", "0.5km", "--map", map_file, "--json")
    first, second = json.loads(shown.out)["universal"]
    assert "higher level" in first["impossible"]
    assert second["mean_km"] >= 0.5


def test_the_mean_over_a_map_weighs_subtrees_by_their_prior():
    lonely = np.zeros(49)
    lonely[:7] = [1, 0, 2, 3, 0, 1, 1]
    only_first = small_map(priors=Priors(LEAVES, lonely))
    found = errors_of_universal(only_first, 1, 5.0)
    assert found.mean_km < errors_of_universal(MAP, 1, 5.0).mean_km
    nothing_known = small_map(priors=Priors(LEAVES, np.zeros(49)))
    assert errors_of_universal(nothing_known, 1, 5.0).mean_km > found.mean_km


def test_a_forest_is_judged_by_its_own_matrices(map_file, tmp_path, capsys):
    forest = quick_forest(MAP, request_for(map_id(MAP), CatalogueEntry(2, None, 0, Rows.KEEP, 5.0)))
    expected = errors_of_universal(MAP, 2, 5.0)
    assert errors_of_forest(MAP, forest).mean_km == pytest.approx(expected.mean_km, rel=1e-9)
    path = tmp_path / "forest.safetensors"
    write_forest(path, forest)
    words = ["epsilon", "--epsilon", "5", "--map", map_file, "--forest", path]
    answer = json.loads(said(capsys, *words, "--json").out)
    assert answer["forests"][0]["file"] == "forest.safetensors"
    assert (answer["offered_per_km"], answer["next_stricter_per_km"]) == ([5.0, 15.0], 5.0)
    assert "the next stricter" in said(capsys, *words).out
    other = tmp_path / "other.json"
    other.write_bytes(encode_map(small_map(filters={})))
    refused = said(capsys, "epsilon", "--epsilon", "5", "--map", other, "--forest", path)
    assert "another map" in refused.err


def test_levels_too_large_to_judge_are_left_out(monkeypatch):
    monkeypatch.setattr(promise, "MOST_LEAVES", 7)
    assert promise.levels_to_judge(MAP) == (1,)
