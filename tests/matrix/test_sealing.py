"""Sealed weights are private exactly, cost next to nothing, and nothing else is sealed."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.errors import InvalidMatrix, NotPrivate
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import ROOM_KM, TOTAL, epsilon_to_solve, seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from tests.matrix.oracle import slow_audit

SEVEN = LocationTree("88283082a9fffff", 1).leaves
SEVEN_KM = distances.between_cells(SEVEN)


def tight(epsilon: float) -> ObfuscationMatrix:
    """The closed form: private at epsilon and at nothing less."""
    rays = np.exp(-epsilon * SEVEN_KM)
    return ObfuscationMatrix(SEVEN, SEVEN, 0, rays * np.linalg.solve(rays, np.ones(7)))


@pytest.mark.parametrize("epsilon", [4.0, 5.0, 15.0, 30.0])
def test_a_tight_matrix_solved_a_hair_tighter_is_sealed_exactly(epsilon):
    sealed = seal(tight(epsilon_to_solve(epsilon, SEVEN_KM)), SEVEN_KM, epsilon)
    assert slow_audit(sealed.matrix.weights, SEVEN_KM, epsilon).violations == 0
    assert set(sealed.matrix.row_totals) == {TOTAL}
    assert sealed.matrix.weights.min() > 0


def test_the_seal_leaves_room_for_other_machines():
    sealed = seal(tight(epsilon_to_solve(5.0, SEVEN_KM)), SEVEN_KM, 5.0)
    shorter = np.maximum(SEVEN_KM - ROOM_KM, 0)
    assert slow_audit(sealed.matrix.weights, shorter, 5.0).violations == 0


def test_what_leaves_less_than_that_room_is_not_sealed():
    nearest = SEVEN_KM[SEVEN_KM > 0].min()
    half_of_it = 5.0 * (1 - ROOM_KM / 2 / nearest)
    with pytest.raises(NotPrivate):
        seal(tight(half_of_it), SEVEN_KM, 5.0)


@pytest.mark.parametrize("apart_km", [1e-2, 1e-4])
def test_what_two_near_places_are_rounded_to_differs_by_no_more_than_they_may(apart_km):
    # Between the two the far place's share crosses one unit and a half: one of them rounds down.
    share = 1.5 * (1 + np.exp(-2.5 * apart_km)) / TOTAL
    far_km = -np.log(share) / 2.5 + apart_km / 2
    places = np.array([0.0, apart_km, far_km])
    table = np.abs(places[:, None] - places)
    rounded = np.rint(exponential_matrix(SEVEN[:3], table, 5.0).probabilities[:2, 2] * TOTAL)
    assert rounded.tolist() == [1, 2]
    assert seal(exponential_matrix(SEVEN[:3], table, 5.0), table, 5.0).audit.holds


def test_sealing_moves_no_probability_noticeably():
    matrix = tight(epsilon_to_solve(5.0, SEVEN_KM))
    sealed = seal(matrix, SEVEN_KM, 5.0).matrix
    assert np.abs(sealed.weights / TOTAL - matrix.probabilities).max() < 1e-13


def test_zeros_that_are_allowed_nowhere_cannot_be_sealed():
    with pytest.raises(NotPrivate, match="needs"):
        seal(ObfuscationMatrix(SEVEN, SEVEN, 0, np.eye(7)), SEVEN_KM, 5.0)


def test_what_is_not_private_at_epsilon_is_not_sealed_at_epsilon():
    with pytest.raises(NotPrivate):
        seal(tight(5.0 * 1.0001), SEVEN_KM, 5.0)


def test_a_column_that_nobody_reports_is_sealed_too():
    table = np.array([[0.5, 0.5, 0.0]] * 3)
    matrix = ObfuscationMatrix(SEVEN[:3], SEVEN[:3], 0, table)
    assert seal(matrix, SEVEN_KM[:3, :3], 5.0).audit.holds


def test_equal_inputs_give_equal_weights():
    one, two = (seal(exponential_matrix(SEVEN, SEVEN_KM, 5.0), SEVEN_KM, 5.0) for _ in range(2))
    assert np.array_equal(one.matrix.weights, two.matrix.weights)


@pytest.mark.parametrize(
    "weights",
    [
        np.zeros((2, 2), dtype=np.uint64),
        np.ones((2, 2)),
        np.ones((2, 3), dtype=np.uint64),
        np.full((2, 2), 2**63, dtype=np.uint64),
    ],
)
def test_weights_from_which_nothing_can_be_drawn_are_refused(weights):
    with pytest.raises(InvalidMatrix):
        SealedMatrix(("a", "b"), ("a", "b"), 0, weights)


def test_totals_beyond_64_bits_are_exact():
    weights = np.full((1, 5), 2**62, dtype=np.uint64)
    assert SealedMatrix(("a",), tuple("abcde"), 0, weights).row_totals == (5 * 2**62,)


def test_sealed_weights_cannot_be_written_to():
    sealed = seal(exponential_matrix(SEVEN, SEVEN_KM, 5.0), SEVEN_KM, 5.0).matrix
    with pytest.raises(ValueError, match="read-only"):
        sealed.weights[0, 0] = 1
