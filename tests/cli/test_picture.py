"""``geocorgi picture``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from tests.cli.command import said
from tests.cli.published import MAP, publish

LEAVES = LocationTree("882830828dfffff", 1).leaves


def test_every_kind_of_picture_is_written(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "matrix.npz", matrix=np.full((7, 7), 1 / 7), cells=np.array(LEAVES))
    prior = "\n".join(["cell,weight", *(f"{leaf},{at}" for at, leaf in enumerate(LEAVES))])
    (tmp_path / "prior.csv").write_text(prior + "\n")
    for arguments in (
        ["tree", "--out", "tree.svg"],
        ["prior", "prior.csv", "--out", "prior.png"],
        ["row", "matrix.npz", "--cell", LEAVES[3], "--out", "row.html"],
        ["circles", "--epsilon", "5", "--accuracy-km", "0.2", "--out", "circles.svg"],
    ):
        answer = said(capsys, "picture", *arguments)
        assert answer.code == 0, answer.err
        assert (tmp_path / arguments[-1]).stat().st_size > 1_000


def test_an_unknown_kind_of_file_is_refused_before_anything_is_done(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    answer = said(capsys, "picture", "tree", "--out", "tree.jpeg")
    assert answer.code == 2
    assert ".svg, .png, .html" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_matrix_without_cells_has_no_picture(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    distances = np.ones((2, 2)) - np.eye(2)
    np.savez(tmp_path / "m.npz", matrix=np.full((2, 2), 0.5), distances_km=distances)
    answer = said(capsys, "picture", "row", "m.npz", "--cell", LEAVES[0], "--out", "m.svg")
    assert answer.code == 2
    assert "Traceback" not in answer.err


def drawn(capsys, *arguments):
    answer = said(capsys, "picture", *arguments)
    assert answer.code == 0, answer.err
    return Path(arguments[-1]).read_text(encoding="utf-8")


def test_cells_are_pruned_before_a_row_is_drawn(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "m.npz", matrix=np.full((7, 7), 1 / 7), cells=np.array(LEAVES))
    gone = ["--remove", LEAVES[0], "--remove", LEAVES[1]]
    text = drawn(capsys, "row", "m.npz", "--cell", LEAVES[0], *gone, "--out", "row.svg")
    assert text.count(", removed</title>") == 2
    assert text.count("20 %") == 5
    answer = said(capsys, "picture", "row", "m.npz", "--cell", LEAVES[0],
                  "--remove", "872830829ffffff", "--out", "row.svg")  # fmt: skip
    assert answer.code == 2
    assert "--remove names a cell" in answer.err


def test_what_a_policy_removes_is_drawn_with_its_reasons(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    publish(tmp_path)
    (tmp_path / "policy.toml").write_text(f'privacy_level = 1\nblack_list = ["{MAP.leaves[9]}"]\n')
    files = ["removed", "--map", "map.json", "--policy", "policy.toml"]
    whole = drawn(capsys, *files, "--out", "s.svg")
    assert whole.count("black list: 1 cells (line 2)") == 1
    assert "1 of 49 cells" in whole
    elsewhere = cells.ancestor(MAP.leaves[-1], 8)
    assert "0 of 7 cells" in drawn(capsys, *files, "--below", elsewhere, "--out", "s.svg")
    answer = said(capsys, "picture", *files, "--below", "872830829ffffff", "--out", "s.svg")
    assert answer.code == 2
    assert "not of the map" in answer.err


def test_what_depends_on_where_one_is_has_no_picture(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    publish(tmp_path)
    policy = 'privacy_level = 1\npreferences = ["distance < 2 km from me"]\n'
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    answer = said(capsys, "picture", "removed", "--map", "map.json", "--policy", "policy.toml",
                  "--out", "s.svg")  # fmt: skip
    assert answer.code == 2
    assert "where you are" in answer.err
    assert not (tmp_path / "s.svg").exists()
