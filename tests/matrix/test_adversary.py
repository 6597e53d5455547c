"""The adversary's best guess, against trying every way of guessing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidMatrix
from geocorgi.generate.exact import exact
from geocorgi.generate.problem import problem_on_cells
from geocorgi.matrix.adversary import (
    error_without_a_report_km,
    expected_error_km,
    least_error_km,
)
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
from geocorgi.tree.priors import Priors
from tests.wire.maps import TREE

LEAVES = TREE.subtrees(1)[0].leaves
D = distances.between_cells(LEAVES)
PRIOR = np.array([0.1, 0.0, 0.3, 0.05, 0.25, 0.2, 0.1])


def test_no_way_of_guessing_from_four_places_beats_it():
    d, prior = D[:4, :4], np.array([0.1, 0.4, 0.2, 0.3])
    matrix = exponential_matrix(LEAVES[:4], d, 5.0)
    z = matrix.probabilities
    errors = [
        sum(prior[k] * z[k, col] * d[k, guess[col]] for k in range(4) for col in range(4))
        for guess in itertools.product(range(4), repeat=4)
    ]
    assert expected_error_km(matrix, prior, d) == pytest.approx(min(errors), rel=1e-12)


def test_the_identity_leaves_no_error_and_a_constant_row_leaves_the_priors():
    identity = ObfuscationMatrix(LEAVES, LEAVES, 0, np.eye(7))
    constant = ObfuscationMatrix(LEAVES, LEAVES, 0, np.full((7, 7), 1 / 7))
    assert expected_error_km(identity, PRIOR, D) == 0
    alone = error_without_a_report_km(PRIOR, D)
    assert alone > 0.1
    assert expected_error_km(constant, PRIOR, D) == pytest.approx(alone, rel=1e-12)


def test_less_epsilon_is_more_error_up_to_the_priors_own():
    errors = [
        expected_error_km(exponential_matrix(LEAVES, D, eps), PRIOR, D) for eps in (20, 5, 1, 0.01)
    ]
    assert errors == sorted(errors)
    assert errors[-1] <= error_without_a_report_km(PRIOR, D) + 1e-12


def test_a_sealed_matrix_is_judged_as_what_it_seals():
    plain = exponential_matrix(LEAVES, D, 4.99)
    sealed = seal(plain, D, 5.0).matrix
    assert expected_error_km(sealed, PRIOR, D) == pytest.approx(
        expected_error_km(plain, PRIOR, D), rel=1e-9
    )


def test_what_does_not_fit_is_refused():
    matrix = exponential_matrix(LEAVES, D, 5.0)
    for priors, d in [(PRIOR[:3], D), (PRIOR * 0, D), (-PRIOR, D), (PRIOR[:4], D[:4, :4])]:
        with pytest.raises(InvalidMatrix):
            expected_error_km(matrix, priors, d)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0, 1, 3, 50]), min_size=7, max_size=7).filter(any),
    st.sampled_from([0.3, 2.0, 5.0, 20.0]),
)
def test_no_private_mechanism_lets_anybody_get_below_the_least_error(counts, epsilon):
    priors = np.array(counts, dtype=float)
    least = least_error_km(priors, D, epsilon)
    optimum = exact(problem_on_cells(LEAVES, epsilon, Priors(LEAVES, priors))).matrix
    for matrix in (exponential_matrix(LEAVES, D, epsilon), optimum):
        assert least <= expected_error_km(matrix, priors, D) * (1 + 1e-9)
    assert least <= error_without_a_report_km(priors, D) * (1 + 1e-9)


def test_the_least_error_is_the_least_of_all_columns_that_are_allowed_around_a_cell():
    d, priors = D[:4, :4], np.array([0.1, 0.4, 0.2, 0.3])
    worst = min(
        sum(p * t * far for p, t, far in zip(priors, ends, d[x], strict=True))
        / sum(p * t for p, t in zip(priors, ends, strict=True))
        for x in range(4)
        for signs in itertools.product((-1, 1), repeat=4)
        for ends in [np.exp(np.array(signs) * 2.0 * d[x])]
    )
    assert least_error_km(priors, d, 2.0) == pytest.approx(worst, rel=1e-12)


def test_where_numbers_end_the_least_error_is_none():
    assert least_error_km(PRIOR, D, 1e6) == 0.0
