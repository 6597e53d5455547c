"""``geocorgi tree``: the tree that is shown is the tree that there is."""

import json
from pathlib import Path
from typing import Any

import pytest

from geocorgi.tree import cells, distances
from geocorgi.tree.location_tree import LocationTree
from tests.cli.command import said

SF = "86283082fffffff"
PENTAGON = "8009fffffffffff"
PARK = [[-122.51, 37.764], [-122.454, 37.766], [-122.454, 37.775], [-122.511, 37.771]]
Capsys = pytest.CaptureFixture[str]


def as_json(capsys: Capsys, *words: object) -> dict[str, Any]:
    code, out, err = said(capsys, "tree", *words, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def test_without_a_word_more_it_shows_san_francisco(capsys: Capsys) -> None:
    code, out, err = said(capsys, "tree")
    assert (code, err) == (0, "")
    assert SF in out
    for count in ("343", "49", "7"):
        assert count in out
    assert distances.DEFINITION in out


def test_levels_sizes_and_areas_are_those_of_the_tree(capsys: Capsys) -> None:
    found = as_json(capsys, "--root", SF, "--height", 2)
    assert found["distance"] == distances.DEFINITION
    (tree,) = found["trees"]
    assert (tree["root"], tree["height"], tree["leaves"]) == (SF, 2, 49)
    assert not tree["pentagon_root"]
    levels = tree["levels"]
    assert [level["level"] for level in levels] == [2, 1, 0]
    assert [level["resolution"] for level in levels] == [6, 7, 8]
    assert [level["cells"] for level in levels] == [1, 7, 49]
    leaves = LocationTree(SF, 2).leaves
    mean = sum(map(cells.area_km2, leaves)) / 49
    assert levels[2]["mean_area_km2"] == pytest.approx(mean, rel=1e-12)
    nearest = distances.nearest_km(leaves).mean()
    assert levels[2]["mean_spacing_km"] == pytest.approx(nearest, rel=1e-12)


def test_very_many_cells_are_described_by_averages_and_said_to_be(capsys: Capsys) -> None:
    (tree,) = as_json(capsys, "--height", 9)["trees"]
    measured = {level["cells"]: level["measured"] for level in tree["levels"]}
    assert measured[2401]
    assert not measured[7**9]
    assert "~" in said(capsys, "tree", "--height", 9).out
    assert "~" not in said(capsys, "tree", "--height", 2).out


def test_a_pentagon_says_that_it_is_one(capsys: Capsys) -> None:
    assert "pentagon" in said(capsys, "tree", "--root", PENTAGON).out
    (tree,) = as_json(capsys, "--root", PENTAGON)["trees"]
    assert tree["pentagon_root"]
    assert [level["cells"] for level in tree["levels"]] == [1, 6, 41, 286]


@pytest.mark.parametrize("at", ["37.77,-122.42", "-33.87,151.21", "90,0", "0,-180", " 1 , 2 "])
def test_a_tree_grows_around_a_point(capsys: Capsys, at: str) -> None:
    (tree,) = as_json(capsys, "--at", at, "--root-resolution", 7, "--height", 2)["trees"]
    latitude, longitude = map(float, at.split(","))
    assert LocationTree(tree["root"], 2).contains_point(latitude, longitude)


def test_a_region_is_covered_by_several_trees(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "park.geojson"
    path.write_text(json.dumps({"type": "Polygon", "coordinates": [[*PARK, PARK[0]]]}), "utf-8")
    found = as_json(capsys, "--region", path, "--root-resolution", 8, "--height", 1)["trees"]
    roots = [tree["root"] for tree in found]
    assert len(roots) > 5
    assert roots == sorted(set(roots))
    listed = as_json(capsys, "--region", path, "--root-resolution", 8, "--height", 1, "--list", 0)
    assert len(listed["cells"]) == 7 * len(roots)
    shown = said(capsys, "tree", "--region", path, "--root-resolution", 8, "--height", 1).out
    assert f"{len(roots) - 5} more trees of the same shape" in shown


def test_cells_are_listed_one_a_line_in_the_order_of_the_tree(capsys: Capsys) -> None:
    code, out, err = said(capsys, "tree", "--list", 1)
    assert (code, err) == (0, "")
    assert tuple(out.splitlines()) == LocationTree(SF, 3).nodes(1)
    assert as_json(capsys, "--list", 1) == {"level": 1, "cells": out.splitlines()}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--root", "nowhere"], "15 hexadecimal digits"),
        (["--root", ""], "15 hexadecimal digits"),
        (["--height", "-1"], "whole number from 0 on"),
        (["--height", "10"], "choose a height up to 9"),
        (["--list", "4"], "levels 0 to 3"),
        (["--list", "-1"], "levels 0 to 3"),
        (["--height", "9", "--list", "0"], "choose a coarser leaf resolution"),
        (["--at", "here"], "--at takes LAT,LON"),
        (["--at", "1,2,3"], "--at takes LAT,LON"),
        (["--at", "-122.42,37.77"], "were the two swapped?"),
        (["--at", "nan,0"], "not on the globe"),
        (["--at", "1,2", "--root-resolution", "16"], "H3 has no resolution 16"),
        (["--at", "1,2", "--height", "-1"], "the leaf resolution is the larger number"),
        (["--at", "1,2", "--root", SF], "choose one of --root, --at and --region"),
        (["--region", "none.geojson"], "cannot read none.geojson: No such file"),
        (["--region", "."], "cannot read"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_refusal_is_one_sentence_and_exit_code_two(
    capsys: Capsys, words: list[str], says: str, more: list[str]
) -> None:
    code, out, err = said(capsys, "tree", *words, *more)
    assert (code, out) == (2, "")
    assert says in err
    assert err.startswith("geocorgi: ")
    assert err.count("\n") == 1
    assert "-122.42" not in err.replace("such as --at 37.77,-122.42", "")


def test_a_small_tree_is_drawn_and_a_large_one_or_one_at_a_pole_is_not(capsys):
    drawn = said(capsys, "tree", "--root", "872830828ffffff", "--height", "2").out
    assert {"░", "▒", "█"} <= set(drawn)
    across = said(capsys, "tree", "--at", "0,180", "--root-resolution", "7", "--height", "2").out
    assert 20 < sum("░" in line for line in across.splitlines()) + 15 < 60
    assert "░" not in said(capsys, "tree", "--height", "4").out
    assert "░" not in said(capsys, "tree", "--at", "90,0").out
