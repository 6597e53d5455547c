"""Priors: a distribution within a stated bound, lossless parts, sums that agree."""

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.errors import BadFile, InvalidPriors
from geocorgi.tree.cells import ancestor, descendants
from geocorgi.tree.priors import (
    Priors,
    priors_from_counts,
    restricted,
    restricted_to_subtree,
    summed,
    uniform_priors,
)
from geocorgi.tree.priors_file import read_priors, write_priors

ROOT, SUBTREE = "872830828ffffff", "88283082c1fffff"
LEAVES = descendants(ROOT, 9)  # 49 of them
SEVEN = LEAVES[:7]
weights_of_49 = st.lists(
    st.one_of(st.just(0.0), st.floats(0, 1e300), st.integers(0, 10**6).map(float)),
    min_size=49,
    max_size=49,
)
in_a_folder = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(weights_of_49)
def test_probabilities_sum_to_one_within_the_stated_bound(weights: list[float]) -> None:
    probabilities = Priors(LEAVES, weights).probabilities
    exactly = sum(map(Fraction, probabilities.tolist()))
    assert abs(exactly - 1) < Fraction(1, 2**51)
    assert (probabilities >= 0).all()


@given(weights_of_49)
def test_a_leaf_of_weight_zero_stays_and_has_probability_zero(weights: list[float]) -> None:
    priors = Priors(LEAVES, weights)
    assert priors.cells == LEAVES
    if priors.total > 0:
        assert not priors.probabilities[np.array(weights) == 0].any()


def test_cells_without_any_check_in_get_the_uniform_distribution() -> None:
    empty = restricted(priors_from_counts(LEAVES, [0] * 7 + [3] * 42), SEVEN)
    assert empty.probabilities.tolist() == [1 / 7] * 7
    assert np.array_equal(empty.probabilities, uniform_priors(SEVEN).probabilities)


def test_smoothing_is_added_to_each_count() -> None:
    priors = priors_from_counts(SEVEN, [0, 1, 2, 3, 4, 5, 6], smoothing=0.5)
    assert priors.weights.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    assert priors.total == 24.5


@pytest.mark.parametrize("smoothing", [-1, math.nan, math.inf])
def test_smoothing_is_a_finite_number_of_check_ins(smoothing: float) -> None:
    with pytest.raises(InvalidPriors, match="smoothing"):
        priors_from_counts(SEVEN, [1] * 7, smoothing=smoothing)


@given(weights_of_49)
def test_restricting_twice_is_restricting_once(weights: list[float]) -> None:
    priors = Priors(LEAVES, weights)
    twice = restricted(restricted(priors, LEAVES[:20]), SEVEN[::-1])
    assert twice.cells == SEVEN[::-1]
    assert twice.weights.tolist() == weights[:7][::-1]


def test_a_subtree_is_restricted_to_its_own_leaves_in_their_order() -> None:
    root = ancestor(LEAVES[20], 8)
    part = restricted_to_subtree(priors_from_counts(LEAVES, range(49)), root)
    assert part.cells == descendants(root, 9)
    assert part.total == sum(place for place, leaf in enumerate(LEAVES) if leaf in part.cells)


@given(weights_of_49)
def test_summing_upwards_keeps_the_total_and_the_way_does_not_matter(weights: list[float]) -> None:
    priors = Priors(LEAVES, weights)
    above = summed(priors, 8)
    assert above.cells == descendants(ROOT, 8)
    for cell in above.cells:
        below = [w for leaf, w in zip(LEAVES, weights, strict=True) if ancestor(leaf, 8) == cell]
        assert above[cell] == math.fsum(below if any(weights) else [1.0] * 7)
    assert math.isclose(summed(above, 7).total, summed(priors, 7).total, rel_tol=1e-15)


def test_without_knowledge_a_pentagon_is_as_likely_as_it_has_leaves() -> None:
    pentagon_leaves = descendants("847e001ffffffff", 6)
    above = summed(Priors(pentagon_leaves, np.zeros(len(pentagon_leaves))), 5)
    assert sorted(above.weights.tolist()) == [6, 7, 7, 7, 7, 7]


def test_weights_are_copied_and_read_only() -> None:
    mine = np.ones(7)
    priors = Priors(SEVEN, mine)
    mine[0] = 99
    assert priors[SEVEN[0]] == 1
    for array in (priors.weights, priors.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2


@pytest.mark.parametrize(
    ("cells", "weights", "expected"),
    [
        ((), [], "at least one cell"),
        (SEVEN, [1] * 6, "one weight for each of 7"),
        (SEVEN, [[1] * 7], "got shape"),
        (SEVEN, [1] * 6 + [-1e-300], "not negative"),
        (SEVEN, [1] * 6 + [math.nan], "finite"),
        (SEVEN, [1] * 6 + [math.inf], "finite"),
        (SEVEN, ["a"] * 7, "numbers"),
        (SEVEN, [1.7e308] * 7, "too large"),
        ((SEVEN[0], SEVEN[0]), [1, 1], "twice"),
        ((SEVEN[0], ROOT), [1, 1], "resolution"),
    ],
)
def test_weights_that_are_no_distribution_are_refused(
    cells: tuple[str, ...], weights: list[float], expected: str
) -> None:
    with pytest.raises(InvalidPriors, match=expected):
        Priors(cells, weights)


def test_cells_that_the_priors_lack_are_refused() -> None:
    priors = uniform_priors(SEVEN)
    with pytest.raises(InvalidPriors, match="1 of the 1"):
        restricted(priors, LEAVES[7:8])
    with pytest.raises(InvalidPriors, match="do not have that cell"):
        priors[LEAVES[7]]
    for root, why in (("872830829ffffff", "no cell below"), ("8a2830828007fff", "finer")):
        with pytest.raises(InvalidPriors, match=why):
            restricted_to_subtree(priors, root)


@in_a_folder
@given(weights=weights_of_49, order=st.permutations(range(49)))
def test_a_written_file_reads_as_the_same_priors_in_any_order(
    tmp_path: Path, weights: list[float], order: list[int]
) -> None:
    priors = Priors(LEAVES, weights)
    write_priors(restricted(priors, [LEAVES[place] for place in order]), tmp_path / "p.csv")
    again = read_priors(tmp_path / "p.csv", LEAVES)
    assert again.cells == LEAVES
    assert again.weights.tobytes() == priors.weights.tobytes()


def file_of(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "p.csv"
    path.write_bytes("\r\n".join(lines).encode())
    return path


def test_a_missing_cell_is_an_error_unless_it_is_said_to_mean_zero(tmp_path: Path) -> None:
    path = file_of(tmp_path, "cell,weight", f"{SEVEN[0]},2", "")
    with pytest.raises(InvalidPriors, match="lacks 6 of 7 cells"):
        read_priors(path, SEVEN)
    assert read_priors(path, SEVEN, missing_as_zero=True).weights.tolist() == [2, *[0] * 6]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "has no cell below its header"),
        (["weight,cell"], "line 1: expected the header"),
        (["cell,weight", f"{LEAVES[7]},1"], "1 cells that were not asked for"),
        (["cell,weight", f"{SEVEN[0]},1", f"{SEVEN[0]},1"], "line 3: the cell is there twice"),
        (["cell,weight", f"{SEVEN[0]},-1"], "line 2: a weight is"),
        (["cell,weight", f"{SEVEN[0]},nan"], "line 2: a weight is"),
        (["cell,weight", f"{SEVEN[0]},1e999"], "line 2: a weight is"),
        (["cell,weight", f"{SEVEN[0]},1_0"], "line 2: a weight is"),
        (["cell,weight", f"{SEVEN[0]},"], "line 2: a weight is"),
        (["cell,weight", "nowhere,1"], "line 2: the first field is not an H3 cell"),
        (["cell,weight", f"{SEVEN[0]},1,1"], "line 2: expected two fields"),
        (["cell,weight", "x" * 10**6], "line 2: expected two fields"),
    ],
)
def test_a_file_that_holds_no_priors_is_refused_by_line_and_not_by_cell(
    tmp_path: Path, lines: list[str], expected: str
) -> None:
    with pytest.raises(InvalidPriors, match=expected) as refusal:
        read_priors(file_of(tmp_path, *lines), SEVEN)
    assert not any(cell in str(refusal.value) for cell in LEAVES)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"^p\.csv cannot be read"):
        read_priors(tmp_path / "p.csv", SEVEN)
    (tmp_path / "p.csv").write_bytes(b"cell,weight\n\xff\xfe,1\n")
    with pytest.raises(InvalidPriors, match="not UTF-8"):
        read_priors(tmp_path / "p.csv", SEVEN)


def test_priors_need_no_data_frames() -> None:
    code = "import sys, geocorgi.tree.priors_file; assert 'polars' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
