"""An obfuscation matrix is validated once, at birth, and never changes afterwards."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.obfuscation_matrix import LONGEST_NAME, ROW_SUM_BOUND, ObfuscationMatrix
from geocorgi.matrix.sealed import LARGEST_WEIGHT, SealedMatrix

TABLE = np.array([[0.75, 0.25], [0.5, 0.5]])
WEIGHTS = np.array([[3, 1], [2, 2]], dtype=np.uint64)
AB = ("a", "b")
BOTH = [(ObfuscationMatrix, TABLE), (SealedMatrix, WEIGHTS)]


def matrix(table: Any = TABLE, rows: Any = AB, columns: Any = AB, level: Any = 0) -> Any:
    return ObfuscationMatrix(rows, columns, level, table)


@pytest.mark.parametrize(("kind", "numbers"), BOTH)
def test_the_numbers_cannot_be_written(kind: Any, numbers: np.ndarray) -> None:
    value = kind(AB, AB, 0, numbers)
    with pytest.raises(ValueError, match="read-only"):
        value.weights[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        value.weights[0] *= 2
    with pytest.raises(AttributeError):
        value.level = 1
    with pytest.raises((AttributeError, TypeError)):
        value.note = "a slot more"


@pytest.mark.parametrize(("kind", "numbers"), BOTH)
def test_changing_the_source_changes_nothing(kind: Any, numbers: np.ndarray) -> None:
    source, names = numbers.copy(), ["a", "b"]
    value = kind(names, names, 0, source)
    source[:] = 7
    names.append("c")
    assert (value.weights == numbers).all()
    assert value.row_cells == value.column_cells == AB
    assert source.flags.writeable


def test_a_row_is_a_view_that_cannot_be_written_either() -> None:
    row = matrix().row("b")
    assert row.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1.0


def test_a_row_that_is_not_there_is_refused_without_naming_the_cell() -> None:
    with pytest.raises(InvalidMatrix, match="no row for the cell") as refusal:
        matrix().row("89283082c17ffff")
    assert "89283082c17ffff" not in str(refusal.value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_are_finite(bad: float) -> None:
    with pytest.raises(InvalidMatrix, match="row 1, column 0 is not a finite number"):
        matrix([[0.5, 0.5], [bad, 0.5]])


def test_numbers_are_not_negative_however_little() -> None:
    with pytest.raises(InvalidMatrix, match=r"row 0, column 1 is negative: -4\.94e-324"):
        matrix([[1.0, -5e-324], [0.5, 0.5]])
    assert matrix([[1.0, -0.0], [0.5, 0.5]]).probabilities[0, 1] == 0


@given(st.floats(-3 * ROW_SUM_BOUND, 3 * ROW_SUM_BOUND))
def test_rows_sum_to_one_within_the_stated_bound(off: float) -> None:
    table = [[0.75, 0.25], [0.5, 0.5 + off]]
    if abs(off) < 0.99 * ROW_SUM_BOUND:
        kept = matrix(table).probabilities
        assert kept.tolist() == table  # within the bound nothing is mended
    elif abs(off) > 1.01 * ROW_SUM_BOUND:
        with pytest.raises(InvalidMatrix, match="row 1 sums to"):
            matrix(table)


@pytest.mark.parametrize(
    "table",
    [
        [],
        [[]],
        1.0,
        [1.0, 0.0],
        [[[1.0]]],
        [[1.0], [1.0]],
        [[0.5, 0.5]],
        np.eye(3),
        "ab",
        None,
        [[1.0, 0.0], [1.0]],
        [["a", "b"], ["c", "d"]],
        {"a": 1},
        [[1.0, None], [0.5, 0.5]],
    ],
)
def test_what_is_no_table_of_the_cells_is_refused(table: Any) -> None:
    with pytest.raises(InvalidMatrix):
        matrix(table)


@pytest.mark.parametrize("names", [(), ("a",), ("a", "a"), ("a", ""), ("a", 1), ("a", None)])
def test_cells_are_as_many_different_names(names: Any) -> None:
    for value in (
        lambda: matrix(rows=names),
        lambda: matrix(columns=names),
        lambda: SealedMatrix(names, AB, 0, WEIGHTS),
        lambda: SealedMatrix(AB, names, 0, WEIGHTS),
    ):
        with pytest.raises(InvalidMatrix):
            value()


def test_names_have_a_longest() -> None:
    assert matrix(rows=("a" * LONGEST_NAME, "b")).row_cells[1] == "b"
    with pytest.raises(InvalidMatrix, match="1 to 64 characters"):
        matrix(rows=("a" * (LONGEST_NAME + 1), "b"))


@pytest.mark.parametrize("level", [-1, True, 1.0, "1", None])
def test_a_level_is_a_whole_number_from_zero_on(level: Any) -> None:
    with pytest.raises(InvalidMatrix, match="level from 0 on"):
        matrix(level=level)
    with pytest.raises(InvalidMatrix, match="level from 0 on"):
        SealedMatrix(AB, AB, level, WEIGHTS)


def test_a_pruned_matrix_need_not_be_square() -> None:
    pruned = ObfuscationMatrix(AB, ("a",), 1, np.ones((2, 1)))
    assert pruned.weights.shape == (2, 1)
    assert SealedMatrix(("a",), AB, 1, WEIGHTS[:1]).row_totals == (4,)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (WEIGHTS.astype(np.int64), "not int64"),
        (WEIGHTS.astype(float), "not float64"),
        ([[3, 1], [2, 2]], "not int64"),
        (WEIGHTS[:1], "not one for each"),
        (WEIGHTS[0], "not one for each"),
        (np.array([[0, 0], [1, 1]], np.uint64), "all zero"),
        (np.array([[LARGEST_WEIGHT + 1, 0], [1, 1]], np.uint64), "at most 2"),
    ],
)
def test_weights_from_which_nothing_could_be_drawn_are_refused(weights: Any, says: str) -> None:
    with pytest.raises(InvalidMatrix, match=says):
        SealedMatrix(AB, AB, 0, weights)


@given(st.lists(st.integers(0, LARGEST_WEIGHT), min_size=4, max_size=4).filter(any))
def test_row_totals_are_exact_beyond_64_bits(row: list[int]) -> None:
    sealed = SealedMatrix(("a",), tuple("wxyz"), 0, np.array([row], np.uint64))
    assert sealed.row_totals == (sum(row),)
    assert sum(Fraction(weight, sum(row)) for weight in sealed.weights[0].tolist()) == 1
