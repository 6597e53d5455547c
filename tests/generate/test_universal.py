"""The universal mechanism as a generator."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.generate.problem import problem_on_cells
from geocorgi.generate.universal import universal
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.sealing import seal
from geocorgi.tree.location_tree import LocationTree

LEAVES = LocationTree("872830828ffffff", 2).leaves


@pytest.mark.parametrize("epsilon", [0.1, 5.0, 30.0])
def test_holds_and_can_be_sealed(epsilon):
    problem = problem_on_cells(LEAVES, epsilon)
    found = universal(problem)
    assert found.audit.holds
    assert found.gap is None
    seal(found.matrix, problem.distances_km, epsilon)


@pytest.mark.parametrize(("epsilon", "loss"), [(5, 0.3194), (15, 0.0717)])
def test_costs_what_is_known_of_49_leaves(epsilon, loss):
    assert universal(problem_on_cells(LEAVES, float(epsilon))).loss_km == pytest.approx(
        loss, rel=1e-3
    )


def test_is_the_mechanism_that_a_device_makes_for_itself():
    problem = problem_on_cells(LEAVES, 5.0)
    made = exponential_matrix(LEAVES, problem.distances_km, 5.0)
    np.testing.assert_allclose(
        universal(problem).matrix.probabilities, made.probabilities, rtol=1e-13
    )


def test_holds_over_a_few_reportable_places_far_away():
    found = universal(problem_on_cells(LEAVES, 5.0, reportable=LEAVES[-2:]))
    assert found.audit.holds
    assert found.matrix.probabilities.shape == (49, 2)


def test_holds_where_places_are_farther_apart_than_a_float_can_say():
    found = universal(problem_on_cells((LEAVES[0], LEAVES[1], "892a1072cc3ffff"), 30.0))
    assert found.audit.holds
