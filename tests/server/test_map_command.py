"""``geocorgi-server map`` as an operator and a program see it."""

from __future__ import annotations

import gzip
import json

import pytest

from geocorgi.matrix.prunable import Rows
from geocorgi.tree.cells import centres
from geocorgi.tree.location_tree import LocationTree
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.map_codec import map_id, read_map
from geocorgi.wire.predicate import Condition
from tests.cli.command import Said
from tests.server.command import answer as answered
from tests.server.command import said

ROOT = "872830828ffffff"
LEAVES = LocationTree(ROOT, 2).leaves
SMALL = ["--root", ROOT, "--height", "2"]


def run(capsys, *words: object) -> Said:
    return said(capsys, "map", *words)


def answer(capsys, *words: object) -> dict:
    return answered(capsys, "map", *words)


def test_the_map_is_what_the_answer_says(capsys, tmp_path):
    out = tmp_path / "map.json"
    found = answer(capsys, *SMALL, "--out", str(out))
    made = read_map(out)
    assert found["map_id"] == map_id(made)
    assert (found["leaves"], found["leaves_with_weight"]) == (49, 49)
    assert made.priors.cells == tuple(sorted(LEAVES))
    assert found["entries"] == len(made.catalogue) > 0


def test_without_options_it_is_the_papers_tree(capsys, tmp_path):
    found = answer(capsys, "--out", str(tmp_path / "map.json"))
    assert (found["roots"], found["height"], found["leaves"]) == (["86283082fffffff"], 3, 343)
    assert found["privacy_levels"] == [1, 2, 3]


def test_the_same_inputs_are_the_same_bytes(capsys, tmp_path):
    for name in ("one", "two"):
        answer(capsys, *SMALL, "--out", str(tmp_path / f"{name}.json"))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_only_what_is_offered_is_in_the_catalogue(capsys, tmp_path):
    out = tmp_path / "map.json"
    offer = ["--level", "1", "--delta", "0", "--delta", "3", "--rows", "keep", "--epsilon", "7"]
    answer(capsys, *SMALL, *offer, "--out", str(out))
    assert set(read_map(out).catalogue) == {
        CatalogueEntry(1, None, delta, Rows.KEEP, 7.0) for delta in (0, 3)
    }


def test_a_delta_that_a_subtree_cannot_meet_is_not_offered(capsys, tmp_path):
    found = answer(
        capsys, *SMALL, "--level", "1", "--delta", "5", "--delta", "6",
        "--out", str(tmp_path / "map.json"),
    )  # fmt: skip
    assert found["deltas"] == [5]


def test_priors_targets_and_filters_come_from_files(capsys, tmp_path):
    out, prior = tmp_path / "map.json", tmp_path / "prior.csv"
    prior.write_text("cell,weight\n" + "".join(f"{leaf},{n}\n" for n, leaf in enumerate(LEAVES)))
    found = answer(
        capsys, *SMALL, "--prior", str(prior), "--targets", str(prior),
        "--filter", f"visited={prior}", "--out", str(out),
    )  # fmt: skip
    made = read_map(out)
    assert found["leaves_with_weight"] == 48
    assert found["filters"] == {"visited": 48}
    assert len(made.filters["visited"]) == 48
    assert made.targets is not None
    assert {entry.filter for entry in made.catalogue} == {None, "visited"}


def test_check_ins_become_priors_and_bad_rows_are_counted(capsys, tmp_path):
    out, checkins = tmp_path / "map.json", tmp_path / "checkins.txt.gz"
    (latitude,), (longitude,) = centres(LEAVES[:1])
    rows = [
        f"{user}\t2010-10-19T23:55:27Z\t{latitude}\t{longitude}\t{user}" for user in range(1, 4)
    ]
    rows += ["4\t2010-10-19T23:55:27Z\t0.5\t0.5\t9", "nonsense"]
    checkins.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    found = answer(capsys, *SMALL, "--checkins", str(checkins), "--out", str(out))
    assert (found["checkins"], found["checkins_outside"], found["bad_rows"]) == (3, 1, 1)
    assert found["leaves_with_weight"] == 1


def test_a_region_is_covered(capsys, tmp_path):
    region = tmp_path / "city.geojson"
    corners = [[-122.44, 37.76], [-122.41, 37.76], [-122.41, 37.78], [-122.44, 37.76]]
    region.write_text(json.dumps({"type": "Polygon", "coordinates": [corners]}))
    found = answer(
        capsys, "--region", str(region), "--root-resolution", "7", "--height", "1",
        "--out", str(tmp_path / "map.json"),
    )  # fmt: skip
    assert found["leaf_resolution"] == 8
    assert found["leaves"] == 7 * len(found["roots"])


def test_people_are_told_what_is_on_the_map(capsys, tmp_path):
    code, out, _ = run(capsys, *SMALL, "--out", str(tmp_path / "map.json"))
    assert code == 0
    assert "49 leaves" in out
    assert "deltas 0, 2, 4" in " ".join(out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--root", "nowhere"),
        ("--height", "9"),
        ("--delta", "-1"),
        ("--epsilon", "0"),
        ("--prior", "no-such-file.csv"),
        ("--prior", "one.csv", "--checkins", "two.txt"),
        ("--root", ROOT, "--region", "city.geojson"),
        ("--filter", "popular"),
        ("--filter", "popular=no-such-file.csv"),
        ("--filter", "busy=popular_18>=2"),
        ("--filter", "busy=popular_18>=2.e"),
        ("--level", "9"),
        ("--gap", "2"),
        ("--out", "no/such/folder/map.json"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "--out", "map.json", *arguments)
    assert code == 2, err
    assert out == ""
    assert err.strip()
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_check_ins_give_the_hours_at_which_a_leaf_is_popular(capsys, tmp_path):
    out, checkins = tmp_path / "map.json", tmp_path / "checkins.txt"
    (latitude,), (longitude,) = centres(LEAVES[:1])
    times = ["2010-07-19T01:30:00Z", "2010-07-20T01:59:59Z", "2010-12-19T02:00:00Z"]
    rows = [f"{n}\t{time}\t{latitude}\t{longitude}\t{n}" for n, time in enumerate(times)]
    checkins.write_text("\n".join(rows) + "\n")
    answer(
        capsys, *SMALL, "--checkins", str(checkins), "--level", "2",
        "--filter", "evening=popular_18>=2", "--filter", "quiet=checkins<=0", "--delta", "0",
        "--out", str(out),
    )  # fmt: skip
    made = read_map(out)
    by_hour = {hour: made.attributes[f"popular_{hour:02}"].sum() for hour in range(24)}
    assert by_hour == {hour: {18: 3.0}.get(hour, 0.0) for hour in range(24)}  # in summer and winter
    assert made.attributes["checkins"].sum() == 3
    assert made.filters["evening"] == (min(LEAVES[:1]),)
    assert len(made.filters["quiet"]) == 48
    assert made.predicates["evening"] == (Condition("popular_18", at_least=2.0),)


def test_a_region_in_shards_is_one_map_for_each_root(capsys, tmp_path):
    roots = [ROOT, "872830829ffffff"]
    options = [word for root in roots for word in ("--root", root)]
    prior = tmp_path / "prior.csv"
    leaves = [leaf for root in roots for leaf in LocationTree(root, 1).leaves]
    prior.write_text("cell,weight\n" + "".join(f"{leaf},{n}\n" for n, leaf in enumerate(leaves)))
    common = [*options, "--height", "1", "--prior", str(prior), "--filter", f"busy={prior}"]
    found = answer(capsys, *common, "--shards", "--out", str(tmp_path / "city.json"))
    answer(capsys, *common, "--out", str(tmp_path / "whole.json"))
    whole = read_map(tmp_path / "whole.json")
    parts = [read_map(tmp_path / f"city-{root}.json") for root in roots]
    assert found["map_id"].split(", ") == [map_id(part) for part in parts]
    for part, root in zip(parts, roots, strict=True):
        assert part.roots == (root,)
        assert part.shard.roots_of_region == tuple(roots)
        assert "which of the region's 2 roots matters to you" in part.shard.reveals
        for leaf in part.leaves:
            assert part.priors[leaf] == whole.priors[leaf]
            assert (leaf in part.filters["busy"]) == (leaf in whole.filters["busy"])


def test_one_root_is_no_region(capsys, tmp_path):
    code, _, err = run(capsys, *SMALL, "--shards", "--out", str(tmp_path / "map.json"))
    assert (code, "two or more roots" in err) == (2, True)
