"""Equation 12 is what enumeration says, and the approximations bound it."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.generate.reserved_budget import (
    ApproximationRow,
    approximate_budget,
    bound_from_share,
    exact_budget,
    top_shares,
)


def some_matrix(seed: int, size: int, width: int, spread: float):
    random = np.random.default_rng(seed)
    weights = np.exp(-spread * random.random((size, width)))
    return weights / weights.sum(axis=1, keepdims=True)


def sets(columns, most: int):
    return chain.from_iterable(combinations(columns, count) for count in range(most + 1))


def enumerated(matrix, delta: int, own):
    """Return ln R and the needs of all pairs, by trying every S."""
    size, width = matrix.shape
    reserves, needs = np.zeros((size, size)), np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            able = [k for k in range(width) if own is None or k not in (own[i], own[j])]
            ratios, worst = [], -np.inf
            for removed in sets(able, delta):
                left = np.setdiff1d(np.arange(width), removed)
                ratios.append(matrix[j, left].sum() / matrix[i, left].sum())
                peak = (matrix[i, left] / matrix[j, left]).max()
                worst = max(worst, np.log(peak * ratios[-1]))
            reserves[i, j], needs[i, j] = np.log(max(ratios)), worst
    return reserves, needs


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 6),
    st.integers(3, 9),
    st.sampled_from([0.0, 1.0, 8.0]),
    st.booleans(),
)
def test_the_exact_budget_is_the_best_of_all_sets(seed, size, width, spread, keep):
    matrix = some_matrix(seed, size, width, spread)
    delta = seed % min(5, width - 1)
    own = None if keep else np.where(np.arange(size) < width, np.arange(size), -1)
    reserves, needs = enumerated(matrix, delta, own)
    budget = exact_budget(matrix, delta, own)
    assert budget.log_reserves == pytest.approx(reserves, abs=1e-11)
    assert budget.needs == pytest.approx(needs, abs=1e-11)


def test_many_columns_give_what_all_of_them_give():
    matrix = some_matrix(3, 5, 60, 6.0)
    reserves, _ = enumerated(matrix[:, :60], 1, None)
    assert exact_budget(matrix, 1).log_reserves == pytest.approx(reserves, abs=1e-11)


def private_matrix(seed: int):
    """Return rows that are private for their exponents: mixtures of exponentials."""
    random = np.random.default_rng(seed)
    points = random.random((7, 2))
    exponents = 6 * np.linalg.norm(points[:, None] - points, axis=2)
    weights = np.exp(-exponents / 2)
    return weights / weights.sum(axis=1, keepdims=True), exponents


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("delta", [1, 3])
def test_the_approximations_are_upper_bounds_and_ours_is_the_tighter_for_tight_pairs(seed, delta):
    matrix, exponents = private_matrix(seed)
    exact = exact_budget(matrix, delta).log_reserves
    paper = approximate_budget(matrix, exponents, delta)
    assert (exact <= paper + 1e-12).all()
    reserved = bound_from_share(top_shares(matrix, delta), exponents)
    assert (reserved <= paper + 1e-12).all()


def test_row_j_as_printed_is_no_bound():
    # Row i holds nearly all in one column, row j spreads: removing that column hits row i alone.
    matrix = np.array([[0.9, 0.05, 0.05], [0.4, 0.3, 0.3]])
    exponents = np.array([[0.0, 2.0], [2.0, 0.0]])
    exact = exact_budget(matrix, 1).log_reserves[0, 1]
    printed = approximate_budget(matrix, exponents, 1, ApproximationRow.PRINTED)[0, 1]
    proved = approximate_budget(matrix, exponents, 1, ApproximationRow.PROOF)[0, 1]
    assert printed < exact < proved


def test_a_row_that_pruning_can_empty_needs_everything():
    matrix = np.eye(2)
    assert approximate_budget(matrix, np.ones((2, 2)), 1)[0, 1] == np.inf


def test_the_largest_entries_spare_the_rows_own_where_it_stays():
    matrix = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    assert top_shares(matrix, 1).tolist() == [0.5, 0.6]
    assert top_shares(matrix, 1, np.array([0, -1])).tolist() == [0.3, 0.6]
    assert top_shares(matrix, 2, np.array([0, 2])) == pytest.approx([0.5, 0.4])
