"""Quality loss against the paper's sums, written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidMatrix, InvalidPriors
from geocorgi.matrix import quality_loss
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.quality_loss import estimation_error_km, expected_error_km, quality_loss_km

THREE = ("a", "b", "c")
# Three places on a line, one kilometre apart.
LINE_KM = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
# Three that are not: on a line every target would tell two places apart alike.
TRIANGLE_KM = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 6.0], [4.0, 6.0, 0.0]])
shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(lambda w: np.array(w) / sum(w))


def by_the_paper(z, priors, targets, d):
    """Eq. 7 over Eq. 6 over Eq. 3, one loop for every sum."""
    return sum(
        targets[q] * priors[k] * z[k][x] * abs(d[k][q] - d[x][q])
        for q in range(3) for k in range(3) for x in range(3)
    )  # fmt: skip


@given(st.lists(shares, min_size=3, max_size=3), shares, shares)
def test_the_loss_is_the_papers_triple_sum(rows, priors, targets):
    matrix = ObfuscationMatrix(THREE, THREE, 0, np.array(rows))
    loss = quality_loss_km(matrix, priors, expected_error_km(TRIANGLE_KM, TRIANGLE_KM, targets))
    assert loss == pytest.approx(by_the_paper(rows, priors, targets, TRIANGLE_KM), rel=1e-12)


def test_reporting_the_truth_costs_nothing():
    error = expected_error_km(LINE_KM, LINE_KM, np.ones(3) / 3)
    identity = ObfuscationMatrix(THREE, THREE, 0, np.eye(3))
    assert quality_loss_km(identity, np.ones(3) / 3, error) == 0


def test_one_target_costs_the_difference_of_two_distances():
    assert estimation_error_km(LINE_KM, 0, 2)[1] == 0  # as far from the middle either way
    assert expected_error_km(LINE_KM, LINE_KM, np.array([1.0, 0, 0]))[0, 2] == 2


def test_the_loss_is_an_expectation_whatever_the_number_of_targets():
    swap = ObfuscationMatrix(THREE, THREE, 0, np.eye(3)[::-1])
    uniform = np.ones(3) / 3
    one = quality_loss_km(swap, uniform, expected_error_km(LINE_KM, LINE_KM, np.array([1.0, 0, 0])))
    twice = np.hstack([LINE_KM[:, :1], LINE_KM[:, :1]])
    both = quality_loss_km(swap, uniform, expected_error_km(twice, twice, np.array([0.5, 0.5])))
    assert one == pytest.approx(both)


@settings(deadline=None)
@given(st.integers(1, 60))
def test_batches_of_any_size_give_the_same_errors(entries):
    targets = np.array([0.5, 0.5, 0.0])
    whole = expected_error_km(LINE_KM, LINE_KM, targets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality_loss, "BATCH_ENTRIES", entries)
        assert np.array_equal(whole, expected_error_km(LINE_KM, LINE_KM, targets))


@pytest.mark.parametrize(
    "weights", [np.ones(3), np.ones(2) / 2, np.array([1.5, -0.5, 0]), np.array([np.nan, 1, 0])]
)
def test_weights_that_are_no_distribution_are_refused(weights):
    with pytest.raises(InvalidPriors):
        expected_error_km(LINE_KM, LINE_KM, weights)


def test_errors_of_another_shape_are_refused():
    matrix = ObfuscationMatrix(THREE, THREE, 0, np.eye(3))
    with pytest.raises(InvalidMatrix):
        quality_loss_km(matrix, np.ones(3) / 3, np.zeros((3, 2)))
