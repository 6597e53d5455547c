"""The adversary's best guess, against trying every way of guessing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.adversary import error_without_a_report_km, expected_error_km
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
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
