"""Pruning leaves out and changes nothing else: exactly on sealed weights, as printed on floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from geocorgi.errors import InvalidPruning
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import leaves_below, prune
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree

TREE = LocationTree("872830828ffffff", 2)
FORTY_NINE = TREE.leaves
SEVEN = LocationTree("88283082a9fffff", 1).leaves
SEVEN_KM = distances.between_cells(SEVEN)
TABLES = arrays.arrays(np.uint64, (7, 7), elements=st.integers(1, 2**62))
SETS = st.sets(st.sampled_from(SEVEN), max_size=6)
BOTH = st.sampled_from(list(Rows))


def rational(row: list[int], staying: list[int]) -> list[Fraction]:
    """Return the row pruned as printed, in rational arithmetic: z · 1 / (1 - Σ of the removed)."""
    shares = [Fraction(weight, sum(row)) for weight in row]
    removed = sum(share for place, share in enumerate(shares) if place not in staying)
    return [shares[place] / (1 - removed) for place in staying]


@given(TABLES, SETS, BOTH)
def test_sealed_weights_are_pruned_exactly_as_printed(weights, removed, rows):
    pruned = prune(SealedMatrix(SEVEN, SEVEN, 0, weights), removed, rows)
    staying = [place for place, leaf in enumerate(SEVEN) if leaf not in removed]
    assert pruned.column_cells == tuple(SEVEN[place] for place in staying)
    assert pruned.row_cells == (pruned.column_cells if rows is Rows.DROP else SEVEN)
    table = dict(zip(SEVEN, weights.tolist(), strict=True))
    for cell, row, total in zip(
        pruned.row_cells, pruned.weights.tolist(), pruned.row_totals, strict=True
    ):
        assert [Fraction(weight, total) for weight in row] == rational(table[cell], staying)


@given(TABLES, SETS, BOTH)
def test_floats_are_pruned_as_printed_up_to_rounding(weights, removed, rows):
    numbers = weights / weights.sum(axis=1, dtype=np.float64, keepdims=True)
    matrix = ObfuscationMatrix(SEVEN, SEVEN, 0, numbers)
    pruned = prune(matrix, removed, rows)
    staying = [place for place, leaf in enumerate(SEVEN) if leaf not in removed]
    for cell in pruned.row_cells:
        exact = [Fraction(number) for number in matrix.row(cell).tolist()]
        left = sum(exact[place] for place in staying)
        expected = [float(exact[place] / left) for place in staying]
        assert pruned.row(cell).tolist() == pytest.approx(expected, rel=1e-14, abs=0)


def test_the_printed_factor_is_applied():
    matrix = ObfuscationMatrix(("a", "b", "c"), ("a", "b", "c"), 0, np.array(
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.375, 0.5]]
    ))  # fmt: skip
    pruned = prune(matrix, {"c"}, Rows.DROP)
    assert pruned.row("a").tolist() == pytest.approx([0.5 / 0.75, 0.25 / 0.75])
    assert prune(matrix, {"c"}, Rows.KEEP).row("c").tolist() == pytest.approx([0.25, 0.75])


def test_a_row_of_which_hardly_anything_survives_still_sums_to_one():
    tiny = np.array([[1.0, 5e-324, 5e-324], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]])
    names = ("a", "b", "c")
    pruned = prune(ObfuscationMatrix(names, names, 0, tiny), {"a"}, Rows.KEEP)
    assert pruned.row("a").tolist() == [0.5, 0.5]


@given(SETS, BOTH, st.sampled_from([0.5, 5.0, 15.0]))
def test_the_universal_mechanism_survives_sealed(removed, rows, epsilon):
    sealed = seal(exponential_matrix(SEVEN, SEVEN_KM, epsilon * (1 - 1e-7)), SEVEN_KM, epsilon)
    pruned = prune(sealed.matrix, removed, rows)
    assert audit(pruned, distances.between_cells(pruned.row_cells), epsilon).holds


@pytest.mark.parametrize("rows", list(Rows))
def test_a_public_filters_matrix_is_pruned_too(rows):
    weights = np.arange(1, 7 * 3 + 1, dtype=np.uint64).reshape(7, 3)
    pruned = prune(SealedMatrix(SEVEN, SEVEN[:3], 0, weights), {SEVEN[0], SEVEN[5]}, rows)
    assert pruned.column_cells == SEVEN[1:3]
    assert len(pruned.row_cells) == (5 if rows is Rows.DROP else 7)


@pytest.mark.parametrize("rows", list(Rows))
@pytest.mark.parametrize("removed", [set(SEVEN), {"89283082b6fffff"}, {SEVEN[0], "nowhere"}])
def test_what_cannot_be_removed_is_refused_and_no_cell_is_named(rows, removed):
    matrix = exponential_matrix(SEVEN, SEVEN_KM, 5.0)
    with pytest.raises(InvalidPruning) as refusal:
        prune(matrix, removed, rows)
    assert not any(cell in str(refusal.value) for cell in removed)


def test_a_row_without_anything_left_refuses_the_set():
    eye = SealedMatrix(("a", "b"), ("a", "b"), 0, np.eye(2, dtype=np.uint64))
    with pytest.raises(InvalidPruning, match="nothing left to report"):
        prune(eye, {"a"}, Rows.KEEP)
    assert prune(eye, {"a"}, Rows.DROP).row_cells == ("b",)


def test_a_rule_on_a_coarse_cell_is_a_rule_on_its_leaves():
    coarse = TREE.nodes(1)[2]
    assert leaves_below([coarse], FORTY_NINE) == TREE.subtree(coarse).leaves
    assert leaves_below([TREE.root], FORTY_NINE) == FORTY_NINE
    assert leaves_below([FORTY_NINE[3], coarse, "872830829ffffff"], FORTY_NINE) == tuple(
        sorted({FORTY_NINE[3], *TREE.subtree(coarse).leaves})
    )
    assert leaves_below([], FORTY_NINE) == ()


def test_a_rule_finer_than_the_leaves_names_none_of_them():
    finer = LocationTree(FORTY_NINE[0], 1).leaves[0]
    assert leaves_below([finer], FORTY_NINE) == ()


def test_nothing_removed_is_nothing_changed():
    sealed = seal(exponential_matrix(SEVEN, SEVEN_KM, 5.0), SEVEN_KM, 5.0).matrix
    same = prune(sealed, (), Rows.DROP)
    assert np.array_equal(same.weights, sealed.weights)
    assert same.row_cells == same.column_cells == SEVEN
