"""``geocorgi audit``: the exit code is the verdict, the JSON its evidence."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit
from geocorgi.tree import cells, distances
from tests.cli.command import said

SEVEN = cells.descendants("88283082c1fffff", 9)
KM = distances.between_cells(SEVEN)
Z = exponential_matrix(SEVEN, KM, 5.0)
SMALLEST = audit(Z, KM, 5.0).smallest_epsilon_per_km
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "z.npz"
    np.savez(path, matrix=Z.probabilities, cells=SEVEN)
    return path


def verdict_on(capsys: Capsys, file: Path, epsilon: object) -> tuple[int, dict[str, Any]]:
    code, out, err = said(capsys, "audit", file, "--epsilon", epsilon, "--json")
    assert err == ""
    return code, json.loads(out)


def test_it_holds_at_its_smallest_epsilon_and_fails_just_below(capsys: Capsys, file: Path) -> None:
    code, verdict = verdict_on(capsys, file, repr(SMALLEST))
    assert (code, verdict["holds"], verdict["violations"]) == (0, True, 0)
    code, below = verdict_on(capsys, file, repr(math.nextafter(SMALLEST, 0)))
    assert (code, below["holds"]) == (1, False)
    assert below["violations"] >= 1
    assert below["smallest_epsilon_per_km"] == verdict["smallest_epsilon_per_km"] == SMALLEST


def test_the_json_carries_the_evidence(capsys: Capsys, file: Path) -> None:
    _, verdict = verdict_on(capsys, file, 1)
    assert verdict.keys() >= {"smallest_epsilon_per_km", "holds", "violations", "worst"}
    assert verdict["epsilon_per_km"] == 1.0
    assert verdict["comparisons"] == 7 * 6 * 7
    assert verdict["violated_share"] == verdict["violations"] / verdict["comparisons"] > 0
    worst = verdict["worst"]
    i, j, k = (SEVEN.index(worst[role]) for role in ("real", "other", "reported"))
    ratio = math.log(Z.probabilities[i, k] / Z.probabilities[j, k]) / KM[i, j]
    assert ratio == pytest.approx(SMALLEST, rel=1e-12)


def test_the_verdict_is_readable_too(capsys: Capsys, file: Path) -> None:
    code, out, _ = said(capsys, "audit", file, "--epsilon", 5)
    assert code == 0
    assert "holds: z.npz is 5-Geo-Ind" in out
    assert f"{SMALLEST!r} per km" in out
    code, out, _ = said(capsys, "audit", file, "--epsilon", 1)
    assert code == 1
    assert "does not hold: z.npz is not 1-Geo-Ind" in out


def test_an_infinite_epsilon_is_null_because_json_has_no_infinity(
    capsys: Capsys, tmp_path: Path
) -> None:
    path = tmp_path / "identity.npz"
    np.savez(path, matrix=np.eye(7), cells=SEVEN)
    code, verdict = verdict_on(capsys, path, 20)
    assert code == 1
    assert verdict["smallest_epsilon_per_km"] is None
    assert not verdict["holds"]
    assert verdict["infinite_ratios"] == verdict["violations"] == 7 * 6
    shown = said(capsys, "audit", path, "--epsilon", 20).out
    assert "42 ratios are infinite" in shown
    assert "none" in shown


def test_a_uniform_matrix_tells_nothing_at_any_epsilon(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "uniform.csv"
    rows = [f"{cell},0.25,0.25,0.25,0.25" for cell in SEVEN[:4]]
    path.write_text("\n".join([",".join(["cell", *SEVEN[:4]]), *rows]), encoding="utf-8")
    code, verdict = verdict_on(capsys, path, 1e-9)
    assert (code, verdict["smallest_epsilon_per_km"]) == (0, 0.0)
    assert "smallest epsilon" in said(capsys, "audit", path, "--epsilon", 1).out


def test_a_single_cell_has_nothing_to_be_told_from(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    np.savez(path, matrix=[[1.0]], cells=SEVEN[:1])
    code, verdict = verdict_on(capsys, path, 1)
    assert (code, verdict["worst"], verdict["comparisons"]) == (0, None, 0)
    assert said(capsys, "audit", path, "--epsilon", 1).code == 0


def test_a_file_name_is_shown_as_it_is(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "[red]z[bold].npz"  # markup of the library that draws the tables
    np.savez(path, matrix=Z.probabilities, cells=SEVEN)
    assert "holds: [red]z[bold].npz is" in said(capsys, "audit", path, "--epsilon", 5).out
    missing = said(capsys, "audit", tmp_path / "[/].npz", "--epsilon", 5)
    # A name with a slash is a path: what stands after it is the file's name.
    assert "cannot read ].npz" in missing.err


@pytest.mark.parametrize("epsilon", ["nan", "inf", "-inf", "-1", "0", "-0.0", "1e7", "1e999"])
def test_an_epsilon_that_is_none_is_refused(capsys: Capsys, file: Path, epsilon: str) -> None:
    code, out, err = said(capsys, "audit", file, "--epsilon", epsilon)
    assert (code, out) == (2, "")
    assert "epsilon is above 0 and at most" in err
    assert err.count("\n") == 1


def test_an_epsilon_is_judged_before_a_file_is_read(capsys: Capsys, tmp_path: Path) -> None:
    assert "epsilon is" in said(capsys, "audit", tmp_path / "no.npz", "--epsilon", 0).err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("z.txt", b"", "expected a name ending in .npz, .csv, .safetensors"),
        ("z.npz", b"PK\x03\x04", "damaged"),
        ("z.csv", b"cell,a\na,1\na,1\n", "line 3: more rows"),
        ("z.safetensors", b"\xff" * 20, "damaged"),
    ],
)
def test_a_file_that_cannot_be_judged_is_named(
    capsys: Capsys, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(content)
    code, out, err = said(capsys, "audit", tmp_path / name, "--epsilon", 5, "--json")
    assert (code, out) == (2, "")
    assert says in err
    assert f"geocorgi: {name}" in err
    assert err.count("\n") == 1


def test_distances_that_are_none_are_refused_by_the_files_name(
    capsys: Capsys, tmp_path: Path
) -> None:
    path = tmp_path / "d.npz"
    for spoilt in (KM - 1, KM + 1, KM * np.nan):
        np.savez(path, matrix=Z.probabilities, distances_km=spoilt)
        code, out, err = said(capsys, "audit", path, "--epsilon", 5)
        assert (code, out) == (2, "")
        assert err.startswith("geocorgi: d.npz: the distances hold")


def test_the_budget_has_to_be_said(capsys: Capsys, file: Path) -> None:
    code, out, err = said(capsys, "audit", file)
    assert (code, out) == (2, "")
    assert "--epsilon" in err
