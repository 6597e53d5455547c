"""Coarsening keeps every epsilon in leaf distances; averaging, the paper's way, does not."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from geocorgi.errors import InvalidMatrix, OutsideTree
from geocorgi.generate.exact import exact
from geocorgi.generate.problem import problem_on_cells
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import smallest_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.precision import average, coarsen, true_epsilon
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, uniform_priors

TREE = LocationTree("872830828ffffff", 2)
LEAVES, CHILDREN = TREE.leaves, TREE.nodes(1)
LEAVES_KM = distances.between_cells(LEAVES)
UNIVERSAL = exponential_matrix(LEAVES, LEAVES_KM, 3.0)
SEALED = seal(exponential_matrix(LEAVES, LEAVES_KM, 3 - 1e-7), LEAVES_KM, 3.0).matrix
TABLES = arrays.arrays(np.uint64, (49, 49), elements=st.integers(1, 2**56))
SETS = st.sets(st.sampled_from(LEAVES), max_size=48)


@settings(max_examples=40)
@given(TABLES, SETS, st.sampled_from(list(Rows)), st.integers(1, 2))
def test_coarsening_never_costs_privacy_whatever_the_matrix(weights, removed, rows, level):
    pruned = prune(SealedMatrix(LEAVES, LEAVES, 0, weights), removed, rows)
    coarse = coarsen(pruned, TREE, level)
    table = distances.between_cells(pruned.row_cells)
    before = smallest_epsilon(pruned.weights, table)
    assert smallest_epsilon(coarse.weights, table) <= before * (1 + 1e-12)
    assert coarse.row_totals == pruned.row_totals
    assert coarse.row_cells == pruned.row_cells


def test_coarsening_sealed_weights_adds_integers():
    coarse = coarsen(SEALED, TREE, 1)
    assert coarse.column_cells == CHILDREN
    assert coarse.level == 1
    for row, sums in zip(SEALED.weights.tolist(), coarse.weights.tolist(), strict=True):
        assert sums == [sum(row[7 * n : 7 * n + 7]) for n in range(7)]


def test_coarsening_floats_adds_probabilities():
    coarse = coarsen(UNIVERSAL, TREE, 1)
    assert coarse.row(LEAVES[0])[3] == pytest.approx(UNIVERSAL.row(LEAVES[0])[21:28].sum())
    assert coarsen(UNIVERSAL, TREE, 0).column_cells == LEAVES


def test_a_coarse_cell_is_gone_when_all_its_leaves_are():
    removed = TREE.subtree(CHILDREN[0]).leaves
    assert coarsen(prune(SEALED, removed, Rows.DROP), TREE, 1).column_cells == CHILDREN[1:]
    kept = prune(SEALED, removed, Rows.KEEP)
    assert coarsen(kept, TREE, 1).column_cells == CHILDREN[1:]
    averaged = average(kept, TREE, 1, uniform_priors(LEAVES))
    assert (averaged.row_cells, averaged.column_cells) == (CHILDREN, CHILDREN[1:])


@given(st.lists(st.integers(0, 5), min_size=49, max_size=49), SETS)
def test_averaging_is_equation_17_on_the_survivors(counts, removed):
    pruned = prune(UNIVERSAL, removed, Rows.DROP)
    priors = Priors(LEAVES, np.array(counts, dtype=float))
    averaged = average(pruned, TREE, 1, priors)
    for i in averaged.row_cells:
        below = [m for m in pruned.row_cells if TREE.ancestor(m, 1) == i]
        weights = [Fraction(priors[m]) for m in below]
        if not any(weights):
            weights = [Fraction(1)] * len(below)
        for j, found in zip(averaged.column_cells, averaged.row(i), strict=True):
            columns = [n for n, c in enumerate(pruned.column_cells) if TREE.ancestor(c, 1) == j]
            expected = sum(
                weight * sum(Fraction(pruned.row(m)[n]) for n in columns)
                for weight, m in zip(weights, below, strict=True)
            ) / sum(weights)
            assert found == pytest.approx(float(expected), rel=1e-12)


def test_averaging_sealed_weights_reads_them_as_their_quotients():
    by_floats = average(UNIVERSAL, TREE, 1, uniform_priors(LEAVES))
    by_integers = average(SEALED, TREE, 1, uniform_priors(LEAVES))
    assert np.allclose(by_floats.probabilities, by_integers.probabilities, atol=1e-6)


@pytest.fixture(scope="module")
def optimum() -> ObfuscationMatrix:
    return exact(problem_on_cells(LEAVES, 3.0)).matrix


def test_averaging_breaks_geo_indistinguishability_between_leaves(optimum):
    """ADR 8: built with eps 3, averaged with equal priors, leaves need 7.9."""
    needed = true_epsilon(average(optimum, TREE, 1, uniform_priors(LEAVES)), LEAVES)
    assert needed.between_leaves_per_km == pytest.approx(7.92, abs=0.01)
    assert needed.between_rows_per_km == pytest.approx(2.90, abs=0.01)
    coarse = true_epsilon(coarsen(optimum, TREE, 1), LEAVES)
    assert coarse.between_leaves_per_km == coarse.between_rows_per_km <= 3.0


def test_averaging_breaks_it_between_centres_too_where_priors_are_uneven(optimum):
    """What Prop. 4.6's proof drops: people at the far ends of two neighbouring coarse cells."""
    one, other = (TREE.subtree(cell).leaves for cell in CHILDREN[:2])
    table = {pair: LEAVES_KM[LEAVES.index(pair[0]), LEAVES.index(pair[1])]
             for pair in itertools.product(one, other)}  # fmt: skip
    ends = max(table, key=table.__getitem__)
    priors = Priors(LEAVES, np.array([float(leaf in ends) for leaf in LEAVES]))
    needed = true_epsilon(average(optimum, TREE, 1, priors), LEAVES)
    assert needed.between_rows_per_km > 4.9


def test_what_is_not_of_the_tree_is_refused():
    with pytest.raises(OutsideTree):
        coarsen(SEALED, LocationTree("872830829ffffff", 2), 1)
    with pytest.raises(InvalidMatrix, match="from leaves"):
        coarsen(coarsen(SEALED, TREE, 1), TREE, 2)
    with pytest.raises(InvalidMatrix, match="no row"):
        true_epsilon(average(UNIVERSAL, TREE, 1, uniform_priors(LEAVES)), ["89283082b6fffff"])
    heavy = SealedMatrix(LEAVES, LEAVES, 0, np.full((49, 49), 2**62, dtype=np.uint64))
    with pytest.raises(InvalidMatrix, match="2\\^62"):
        coarsen(heavy, TREE, 1)
    assert isinstance(average(SEALED, TREE, 2, uniform_priors(LEAVES)), ObfuscationMatrix)
