"""What is to be solved: costs, priors, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from geocorgi.errors import InvalidEpsilon, InvalidInput
from geocorgi.generate.exact import exact
from geocorgi.generate.problem import problem_on_cells, problem_on_points
from geocorgi.matrix.quality_loss import expected_error_km
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, uniform_priors
from tests.generate.optimum.instances import detours

SEVEN = LocationTree("88283082a9fffff", 1).leaves
UNIFORM = np.full(7, 1 / 7)


def test_priors_and_targets_are_uniform_unless_given():
    problem = problem_on_cells(SEVEN, 2.0)
    np.testing.assert_allclose(
        problem.costs, detours(problem.distances_km, UNIFORM, UNIFORM), rtol=1e-12, atol=1e-15
    )


def test_targets_may_stand_anywhere():
    elsewhere = LocationTree("872830828ffffff", 2).leaves[40:]
    problem = problem_on_cells(SEVEN, 2.0, targets=uniform_priors(elsewhere))
    same = problem_on_cells((*SEVEN, *elsewhere), 2.0).distances_km[:7, 7:]
    plain = np.abs(same[:, None] - same).mean(axis=2)
    np.testing.assert_allclose(problem.detours_km, plain, rtol=1e-12, atol=1e-15)


def test_the_loss_is_the_one_that_matrices_are_judged_by():
    problem = problem_on_cells(SEVEN, 2.0)
    np.testing.assert_allclose(
        problem.detours_km,
        expected_error_km(problem.distances_km, problem.distances_km, UNIFORM),
        atol=1e-15,
    )


def test_costs_and_columns_follow_the_reportable_places_in_their_order():
    whole = problem_on_cells(SEVEN, 2.0)
    part = problem_on_cells(SEVEN, 2.0, reportable=(SEVEN[4], SEVEN[1]))
    assert part.columns.tolist() == [4, 1]
    np.testing.assert_array_equal(part.costs, whole.costs[:, [4, 1]])


def test_a_filter_that_nothing_passes_is_refused_and_not_taken_for_none():
    with pytest.raises(InvalidInput, match="one or more"):
        problem_on_cells(SEVEN, 2.0, reportable=())


def test_reportable_places_are_real_ones():
    with pytest.raises(InvalidInput, match="1 of the reportable"):
        problem_on_cells(SEVEN, 2.0, reportable=(SEVEN[0], "872830828ffffff"))


def test_priors_are_those_of_the_places_in_their_order():
    with pytest.raises(InvalidInput, match="order"):
        problem_on_cells(SEVEN, 2.0, Priors(SEVEN[::-1], np.ones(7)))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.inf, np.nan])
def test_epsilon_is_a_positive_number(epsilon):
    with pytest.raises(InvalidEpsilon):
        problem_on_cells(SEVEN, epsilon)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_weights_of_points_are_no_odd_numbers(wrong):
    # The sum of a NaN is not above zero: it once passed for "all weights are zero".
    with pytest.raises(InvalidInput, match="weights"):
        problem_on_points(["a", "b"], 1 - np.eye(2), 1.0, np.array([1.0, wrong]))


def test_weights_that_overflow_together_are_refused_quietly():
    with pytest.raises(InvalidInput, match="can be added up"):
        problem_on_points(["a", "b"], np.zeros((2, 2)), 1.0, np.full(2, 1e308))


def test_more_places_than_can_be_judged_are_refused_before_their_tables_are_made():
    leaves = LocationTree("86283082fffffff", 5).leaves
    with pytest.raises(InvalidInput, match=r"16,807 places .* choose a smaller height"):
        problem_on_cells(leaves, 1.0)


def test_points_that_all_weigh_nothing_are_alike():
    problem = problem_on_points(["a", "b"], 1 - np.eye(2), 1.0, np.zeros(2))
    np.testing.assert_array_equal(problem.priors, [0.5, 0.5])


@pytest.mark.parametrize(
    "change",
    [
        {"priors": np.ones(6) / 6},
        {"distances_km": np.zeros((6, 7))},
        {"detours_km": np.zeros((7, 6))},
        {"reportable": SEVEN[:6]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_does_not_fit_together_is_refused(change):
    with pytest.raises(InvalidInput):
        replace(problem_on_cells(SEVEN, 2.0), **change)


def test_places_too_near_to_be_sealed_are_refused_with_the_way_out():
    apart = np.array([[0, 2e-9], [2e-9, 0]])
    with pytest.raises(InvalidInput, match="merge"):
        exact(problem_on_points(["a", "b"], apart, 1.0, np.ones(2)))
