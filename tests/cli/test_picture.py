"""``geocorgi picture``."""

from __future__ import annotations

import numpy as np

from geocorgi.tree.location_tree import LocationTree
from tests.cli.command import said

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
