"""The engine against an independent solve of the whole linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidProblem
from geocorgi.generate.exact import exact
from geocorgi.generate.optimum import column_generation
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.cone import cone_of, metric_closure
from geocorgi.generate.optimum.pricing import Pricer, Prices
from geocorgi.generate.problem import problem_on_cells
from geocorgi.tree.location_tree import LocationTree
from tests.generate.optimum.instances import (
    detours,
    hexagon,
    plane,
    quality_costs,
    whole_program,
    worst_excess,
)

UNIFORM = np.full(7, 1 / 7)
WITH_ZEROS = np.array([0.5, 0, 0.3, 0, 0.15, 0.05, 0])
SPIKE = np.array([0.94, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01])
ONE_TARGET = np.eye(7)[3]


def assert_feasible(found, rates, costs):
    matrix = found.probabilities
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-13)
    assert found.loss == pytest.approx((costs * matrix).sum(), rel=1e-12)
    used = matrix[:, matrix.max(axis=0) > 0]
    assert worst_excess(cone_of(rates), used) < 1e-11
    assert found.lower_bound <= found.loss


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0, 30.0])
@pytest.mark.parametrize("prior", [UNIFORM, WITH_ZEROS, SPIKE], ids=["uniform", "zeros", "spike"])
@pytest.mark.parametrize("targets", [UNIFORM, ONE_TARGET], ids=["all targets", "one target"])
def test_finds_the_optimum_of_seven_cells(epsilon, prior, targets):
    rates = epsilon * hexagon()
    costs = quality_costs(hexagon(), prior, targets)
    found = solve(rates, costs, limits=Limits(gap=1e-6))
    optimum = whole_program(rates, costs)
    assert_feasible(found, rates, costs)
    assert found.gap <= 1e-6
    assert found.lower_bound <= optimum * (1 + 1e-7) + 1e-12
    assert found.loss >= optimum * (1 - 1e-7) - 1e-12
    assert found.loss == pytest.approx(optimum, rel=3e-6, abs=1e-12)


@st.composite
def instances(draw):
    size = draw(st.integers(1, 8))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    weights = rng.pareto(0.7, size) * (rng.random(size) > draw(st.sampled_from([0.0, 0.4])))
    if not weights.any():
        weights[0] = 1.0
    epsilon = draw(st.sampled_from([0.1, 0.5, 2.0, 6.0, 15.0, 30.0]))
    width = draw(st.integers(1, size))
    distances = plane(seed, size)
    costs = detours(distances, weights / weights.sum(), np.full(size, 1 / size))
    return epsilon * distances, costs[:, rng.permutation(size)[:width]]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(instances())
def test_agrees_with_the_whole_program_on_random_worlds(instance):
    rates, costs = instance
    found = solve(rates, costs, limits=Limits(gap=1e-5, work=20_000))
    optimum = whole_program(rates, costs)
    assert_feasible(found, rates, costs)
    assert found.lower_bound <= optimum * (1 + 1e-6) + 1e-10
    assert found.loss >= optimum * (1 - 1e-6) - 1e-10
    assert found.gap <= 1e-5


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_takes_any_rates_asymmetric_and_breaking_the_triangle(seed, size):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0, 6, (size, size)) * (rng.random((size, size)) > 0.1)
    np.fill_diagonal(rates, 0)
    costs = rng.uniform(0, 1, (size, size))
    found = solve(rates, costs, limits=Limits(gap=1e-5, work=20_000))
    optimum = whole_program(rates, costs)
    assert_feasible(found, metric_closure(rates), costs)
    assert found.lower_bound <= optimum * (1 + 1e-6)
    assert found.loss == pytest.approx(optimum, rel=3e-5)


def test_a_third_of_a_city_is_solved_to_the_full_programs_value():
    distances = plane(3, 16)
    prior = np.random.default_rng(3).dirichlet(np.full(16, 0.3))
    costs = quality_costs(distances, prior, np.full(16, 1 / 16))
    found = solve(3.0 * distances, costs, limits=Limits(gap=1e-6))
    assert found.loss == pytest.approx(whole_program(3.0 * distances, costs), rel=3e-6)


def test_equal_inputs_give_equal_bytes():
    costs = quality_costs(plane(5, 12), np.full(12, 1 / 12), np.full(12, 1 / 12))
    first, second = (solve(2.0 * plane(5, 12), costs) for _ in range(2))
    assert first.probabilities.tobytes() == second.probabilities.tobytes()
    assert (first.loss, first.lower_bound) == (second.loss, second.lower_bound)


def test_a_warm_start_saves_rounds_and_keeps_the_optimum():
    distances = plane(8, 20)
    costs = quality_costs(
        distances, np.random.default_rng(1).dirichlet(np.ones(20)), np.full(20, 0.05)
    )
    cold = solve(3.0 * distances, costs, limits=Limits(gap=1e-5))
    warm = solve(2.99 * distances, costs, limits=Limits(gap=1e-5), warm_start=cold.warm_start)
    assert_feasible(warm, 2.99 * distances, costs)
    assert warm.gap <= 1e-5
    assert warm.rounds <= cold.rounds


@pytest.mark.parametrize(
    "limits", [Limits(0, seconds=0.0), Limits(0, work=1)], ids=["time", "work"]
)
def test_a_limit_returns_the_best_so_far_with_an_honest_gap(limits):
    distances = plane(9, 15)
    prior = np.random.default_rng(2).dirichlet(np.ones(15))
    costs = quality_costs(distances, prior, np.full(15, 1 / 15))
    found = solve(distances, costs, limits=limits)
    assert_feasible(found, distances, costs)
    assert found.stopped_by in {"time", "work"}
    assert found.lower_bound <= whole_program(distances, costs) <= found.loss * (1 + 1e-9)


def test_first_duals_that_are_far_off_do_not_become_the_centre():
    # Lowered by eight times themselves they once held the search at a bound of zero for good.
    costs = quality_costs(hexagon(), UNIFORM, UNIFORM)
    cone = cone_of(0.5 * hexagon())
    search = column_generation._begin(cone, Pricer(cone, cone, costs), costs, Limits(), None)
    nothing = np.empty((7, 0))
    column_generation._use(search, np.ones(7), Prices(nothing, np.full(7, 9.0), 0))
    assert (search.centre == costs.min(axis=1)).all()
    assert search.bound == 0
    column_generation._use(search, np.ones(7), Prices(nothing, np.full(7, 0.99), 0))
    assert search.bound == pytest.approx(0.07)
    np.testing.assert_allclose(search.centre, 0.01)


@pytest.mark.slow
def test_the_lowest_epsilons_over_many_places_have_a_bound_that_says_something():
    problem = problem_on_cells(LocationTree("86283082fffffff", 3).leaves, 0.5)
    found = exact(problem, Limits(1e-3, work=6_000))
    assert found.gap < 0.4


def test_an_interrupt_in_the_progress_display_returns_the_best_so_far():
    def interrupt(*_):
        raise KeyboardInterrupt

    distances = plane(9, 15)
    costs = quality_costs(distances, np.full(15, 1 / 15), np.full(15, 1 / 15))
    found = solve(distances, costs, limits=Limits(0), on_progress=interrupt)
    assert found.stopped_by == "interrupt"
    assert_feasible(found, distances, costs)


def test_the_matrix_cannot_be_changed_by_accident():
    found = solve(hexagon(), quality_costs(hexagon(), UNIFORM, UNIFORM))
    assert not found.probabilities.flags.writeable


@pytest.mark.parametrize(
    "rates", [-np.ones((2, 2)), np.ones((2, 3)), np.full((2, 2), np.nan), np.ones((2, 2))]
)
def test_refuses_rates_that_are_no_rates(rates):
    with pytest.raises(InvalidProblem):
        solve(rates, np.ones((2, 2)))


@pytest.mark.parametrize(
    "costs", [np.ones((3, 2)), np.ones(2), np.full((2, 2), np.inf), np.ones((2, 0))]
)
def test_refuses_costs_that_do_not_fit(costs):
    with pytest.raises(InvalidProblem):
        solve(np.zeros((2, 2)), costs)
