"""``geocorgi-server matrix`` as an operator and a program see it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from geocorgi.cli import main as user
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.prunable import Rows, certify
from geocorgi.matrix.sealed_file import read_sealed
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from tests.cli.command import Said
from tests.server.command import answer as answered
from tests.server.command import said

LEAVES = LocationTree("872830828ffffff", 2).leaves
SEVEN_ROOT = "88283082a9fffff"


def run(capsys, *words: object) -> Said:
    return said(capsys, "matrix", *words)


def answer(capsys, *words: object) -> dict:
    return answered(capsys, "matrix", *words)


def test_the_answer_names_everything_promised(capsys):
    found = answer(capsys, "--epsilon", "5")
    promised = {"cells", "method", "loss_km", "lower_bound_km", "gap", "seconds", "audit"}
    assert promised <= set(found)
    assert found["cells"] == list(LEAVES)
    assert found["loss_km"] == pytest.approx(0.15403609, abs=2e-8)
    assert found["lower_bound_km"] <= found["loss_km"]
    assert found["audit"]["holds"]


def test_the_sealed_file_holds_what_was_asked(capsys, tmp_path):
    path = tmp_path / "m.safetensors"
    found = answer(capsys, "--epsilon", "15", "--out", str(path))
    sealed = read_sealed(path)
    assert sealed.epsilon_per_km == 15
    assert audit(sealed.matrix, sealed.distances_km, 15.0).holds
    assert abs(found["sealing_cost"]) < 1e-4
    assert found["sealed_loss_km"] == pytest.approx(found["loss_km"], rel=1e-4)


def test_the_same_command_writes_the_same_bytes(capsys, tmp_path):
    for name in ("one", "two"):
        answer(capsys, "--epsilon", "3", "--out", str(tmp_path / f"{name}.safetensors"))
    one, two = ((tmp_path / f"{name}.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_prior_and_targets_from_files_count(capsys, tmp_path):
    prior, targets = tmp_path / "prior.csv", tmp_path / "targets.csv"
    prior.write_text(
        "cell,weight\n" + "".join(f"{leaf},{n % 3}\n" for n, leaf in enumerate(LEAVES))
    )
    targets.write_text(f"cell,weight\n{LEAVES[0]},1\n89283082b6fffff,1\n")  # one is off the subtree
    uniform = answer(capsys, "--epsilon", "5")
    found = answer(capsys, "--epsilon", "5", "--prior", str(prior), "--targets", str(targets))
    assert found["gap"] <= 1e-4
    assert found["loss_km"] != pytest.approx(uniform["loss_km"], rel=1e-3)


def test_leaves_that_the_prior_lacks_weigh_nothing_and_it_is_said(capsys, tmp_path):
    prior = tmp_path / "prior.csv"
    prior.write_text(f"cell,weight\n{LEAVES[0]},1\n")
    code, out, err = run(capsys, "--json", "--epsilon", "5", "--prior", str(prior))
    assert code == 0
    assert "48 leaves are not in prior.csv" in err
    assert json.loads(out)["loss_km"] < 1e-9  # she is always at the one leaf that counts


def test_points_need_no_tree(capsys, tmp_path):
    points, out = tmp_path / "places.csv", tmp_path / "m.safetensors"
    points.write_text("id,lat,lon,weight\na,37.70,-122.4,1\nb,37.71,-122.4,2\nc,37.70,-122.41,0\n")
    found = answer(capsys, "--points", str(points), "--epsilon", "2", "--out", str(out))
    assert found["cells"] == ["a", "b", "c"]
    sealed = read_sealed(out)
    assert audit(sealed.matrix, sealed.distances_km, 2.0).holds


@pytest.mark.parametrize("kind", ["safetensors", "npz"])
def test_the_users_command_audits_what_this_one_wrote(capsys, tmp_path, kind):
    points, out = tmp_path / "places.csv", tmp_path / f"m.{kind}"
    points.write_text("id,lat,lon,weight\na,37.70,-122.4,1\nb,37.71,-122.4,2\nc,37.70,-122.41,0\n")
    for source in (["--points", str(points)], ["--root", SEVEN_ROOT, "--height", "1"]):
        answer(capsys, *source, "--epsilon", "2", "--out", str(out))
        with pytest.raises(SystemExit) as exit_:
            user.run(["audit", str(out), "--epsilon", "2", "--json"])
        assert not exit_.value.code
        assert json.loads(capsys.readouterr().out)["holds"]


def test_only_reportable_cells_are_reported(capsys, tmp_path):
    reportable, out = tmp_path / "cells.csv", tmp_path / "m.safetensors"
    reportable.write_text("cell,weight\n" + "".join(f"{leaf},1\n" for leaf in LEAVES[::5]))
    found = answer(capsys, "--epsilon", "5", "--reportable", str(reportable), "--out", str(out))
    assert found["reportable"] == list(LEAVES[::5])
    sealed = read_sealed(out)
    assert sealed.matrix.weights.shape == (49, 10)
    assert audit(sealed.matrix, sealed.distances_km, 5.0).holds


@pytest.mark.parametrize(
    ("method", "loss"), [("paper", 0.24089649), ("exponential", 0.31938488), ("exact", 0.15403609)]
)
def test_every_method_answers_alike(capsys, method, loss):
    found = answer(capsys, "--epsilon", "5", "--method", method)
    assert found["loss_km"] == pytest.approx(loss, rel=1e-6)
    assert found["audit"]["holds"]


def test_the_wrong_edge_length_of_the_authors_is_caught_by_the_audit(capsys):
    found = answer(capsys, "--epsilon", "5", "--method", "paper", "--spacing-km", "0.37")
    assert not found["audit"]["holds"]
    assert found["audit"]["violations"] > 1_000


def test_highs_solves_the_printed_program_on_seven_leaves(capsys):
    arguments = ["--root", SEVEN_ROOT, "--height", "1", "--epsilon", "5"]
    by_highs = answer(capsys, *arguments, "--method", "paper-full")
    ours = answer(capsys, *arguments, "--gap", "1e-7")
    assert by_highs["loss_km"] == pytest.approx(ours["loss_km"], rel=1e-6)
    assert by_highs["lower_bound_km"] is None


def test_floats_are_written_as_they_are(capsys, tmp_path):
    out = tmp_path / "m.npz"
    answer(capsys, "--epsilon", "5", "--out", str(out))
    with np.load(out) as arrays:
        assert arrays["matrix"].shape == (49, 49)
        assert arrays["cells"].tolist() == list(LEAVES)


def test_what_does_not_hold_is_not_sealed(capsys, tmp_path):
    out = tmp_path / "m.safetensors"
    code, _, err = run(
        capsys, "--epsilon", "5", "--method", "paper", "--spacing-km", "0.37", "--out", str(out)
    )
    assert code == 2
    assert "cannot be sealed" in err
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--epsilon", "0"),
        ("--epsilon", "nan"),
        ("--epsilon", "5", "--gap", "-1"),
        ("--epsilon", "5", "--time-limit", "0"),
        ("--epsilon", "5", "--root", "nowhere"),
        ("--epsilon", "5", "--height", "9"),
        ("--epsilon", "5", "--prior", "no-such-file.csv"),
        ("--epsilon", "5", "--out", "matrix.txt"),
        ("--epsilon", "5", "--out", "no/such/folder/matrix.safetensors"),
        ("--epsilon", "5", "--out", "no/such/folder/matrix.npz"),
        ("--epsilon", "5", "--method", "paper", "--spacing-km", "-1"),
        (),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert err.strip()


def test_a_time_limit_returns_the_best_so_far_with_its_honest_gap(capsys):
    found = answer(
        capsys, "--root", "86283082fffffff", "--height", "3", "--epsilon", "1", "--gap", "0",
        "--time-limit", "2",
    )  # fmt: skip
    assert found["stopped_by"] == "time"
    assert 0 < found["gap"] <= 1
    assert found["audit"]["holds"]


def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    out = tmp_path / "m.safetensors"
    process = subprocess.Popen(
        [sys.executable, "-m", "geocorgi.server.cli", "matrix", "--root", "86283082fffffff",
         "--height", "3", "--epsilon", "1", "--gap", "0", "--out", out],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "at best" in process.stderr.readline()  # it has begun to search
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    sealed = read_sealed(out)
    assert audit(sealed.matrix, sealed.distances_km, 1.0).holds


@pytest.mark.parametrize("rows", ["drop", "keep"])
def test_with_a_delta_the_matrix_is_certified_and_sealed(capsys, tmp_path, rows):
    out = tmp_path / "m.safetensors"
    found = answer(
        capsys, "--root", SEVEN_ROOT, "--height", "1", "--epsilon", "5", "--delta", "2",
        "--rows", rows, "--out", str(out),
    )  # fmt: skip
    assert found["certificate"]["holds"]
    assert found["certificate"]["smallest_epsilon_per_km"] <= 5
    assert (found["delta"], found["rows"]) == (2, rows)
    assert {"cells", "method", "loss_km", "lower_bound_km", "iterations", "audit"} <= set(found)
    sealed = read_sealed(out)
    weights, table = sealed.matrix.weights, sealed.distances_km
    assert certify(weights, table, 5.0, 2, Rows(rows)).holds
    assert sealed.provenance["delta"] == 2


def test_rows_are_kept_unless_otherwise_said(capsys):
    arguments = ["--root", SEVEN_ROOT, "--height", "1", "--epsilon", "5", "--delta", "1"]
    assert answer(capsys, *arguments)["rows"] == "keep"


def test_algorithm_1_is_run_as_printed_and_judged(capsys, tmp_path):
    out = tmp_path / "m.npz"
    arguments = ["--epsilon", "5", "--delta", "1", "--method", "paper", "--iterations", "6"]
    found = answer(capsys, *arguments, "--rows", "drop", "--out", str(out))
    assert len(found["iterations"]) == 7
    assert found["certificate"]["holds"]
    with np.load(out) as arrays:
        assert certify(arrays["matrix"], problem_km(), 5.0, 1, Rows.DROP).holds


def test_the_exit_code_says_that_algorithm_1_did_not_come_to_it(capsys):
    code, out, _ = run(
        capsys, "--epsilon", "5", "--delta", "1", "--method", "paper", "--iterations", "2",
        "--rows", "drop", "--json",
    )  # fmt: skip
    assert code == 1
    assert not json.loads(out)["certificate"]["holds"]


def test_people_are_told_what_is_certified(capsys):
    code, out, err = run(
        capsys, "--root", SEVEN_ROOT, "--height", "1", "--epsilon", "5", "--delta", "1"
    )
    assert code == 0
    assert "holds at 5 per km whatever 1 cells leave" in " ".join(out.split())
    assert "largest change" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--delta", "6"),
        ("--delta", "-1"),
        ("--delta", "1", "--method", "exponential"),
        ("--delta", "1", "--out", "m.npz"),
        ("--delta", "1", "--method", "paper", "--out", "m.safetensors"),
        ("--delta", "1", "--method", "paper", "--iterations", "0"),
    ],
)
def test_a_delta_that_cannot_be_meant_is_refused_in_one_sentence(
    capsys, tmp_path, monkeypatch, arguments
):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(
        capsys, "--root", SEVEN_ROOT, "--height", "1", "--epsilon", "5", *arguments
    )
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def problem_km() -> np.ndarray:
    return distances.between_cells(LEAVES)
