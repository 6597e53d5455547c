"""The exact optimum: against HiGHS on the whole program, sealed, and as it should move."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.generate.exact import exact
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.safe_bound import lower_bound
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells, problem_on_points
from geocorgi.generate.universal import universal
from geocorgi.matrix.sealing import seal
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, uniform_priors
from tests.generate.optimum.instances import plane, whole_program

SEVEN = LocationTree("88283082a9fffff", 1).leaves
FORTY_NINE = LocationTree("872830828ffffff", 2).leaves
SKEWED = np.array([1000.0, 0, 30, 0, 1, 0.001, 0])
ONLY_ONE = np.eye(7)[2]


def seven(
    epsilon: float,
    weights: np.ndarray | None = None,
    targets: Priors | None = None,
    reportable: tuple[str, ...] | None = None,
) -> ObfuscationProblem:
    priors = None if weights is None else Priors(SEVEN, weights)
    return problem_on_cells(SEVEN, epsilon, priors, targets, reportable)


def optimum_of(problem: ObfuscationProblem) -> float:
    return whole_program(problem.epsilon_per_km * problem.distances_km, problem.costs)


def assert_honest(problem, found, optimum, *, tolerance=1e-7):
    assert found.audit.holds
    assert abs(found.matrix.probabilities.sum(axis=1) - 1).max() < 1e-13
    # HiGHS's optimum is good to its tolerances beside the mean cost, not beside a tiny loss.
    doubt = 1e-6 * problem.costs.mean() + 1e-12
    assert found.evidence.lower_bound_km <= optimum * (1 + tolerance) + doubt
    assert found.loss_km >= optimum * (1 - tolerance) - doubt
    sealed = seal(found.matrix, problem.distances_km, problem.epsilon_per_km).matrix
    shares = sealed.weights.astype(np.float64) / 2.0**62
    assert (problem.costs * shares).sum() <= found.loss_km * 1.0001 + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 8.0, 30.0])
@pytest.mark.parametrize("weights", [None, SKEWED, ONLY_ONE], ids=["uniform", "skewed", "one"])
@pytest.mark.parametrize(
    "targets",
    [None, uniform_priors(SEVEN[:1]), uniform_priors(FORTY_NINE[40:])],
    ids=["all targets", "one target", "targets elsewhere"],
)
def test_seven_cells_cost_what_highs_says_and_can_be_sealed(epsilon, weights, targets):
    problem = seven(epsilon, weights, targets)
    found = exact(problem, Limits(gap=1e-6))
    assert_honest(problem, found, optimum_of(problem))
    assert found.gap <= 1e-6


@st.composite
def worlds(draw):
    size = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    points = np.array([37.7, -122.5]) + rng.uniform(0, 0.02, (size, 2))
    if size > 2 and draw(st.booleans()):
        points[-1] = points[0]
    weights = 10 ** rng.uniform(-6, 0, size) * (rng.random(size) > draw(st.sampled_from([0, 0.5])))
    table = 111.0 * np.linalg.norm(points[:, None] - points, axis=2)
    epsilon = draw(st.sampled_from([0.1, 1.0, 5.0, 15.0]))
    return problem_on_points([f"place {n}" for n in range(size)], table, epsilon, weights)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(worlds())
def test_random_places_cost_what_highs_says_and_can_be_sealed(problem):
    found = exact(problem, Limits(gap=1e-5, work=20_000))
    assert_honest(problem, found, optimum_of(problem), tolerance=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "loss"),
    [(2, 0.34683), (5, 0.15403609), (10, 0.03096336), (15, 0.00532124), (20, 0.00089689)],
)
def test_forty_nine_cells_reach_the_known_losses(epsilon, loss):
    problem = problem_on_cells(FORTY_NINE, float(epsilon))
    found = exact(problem, Limits(gap=1e-5))
    assert found.loss_km == pytest.approx(loss, rel=3e-5)
    assert found.gap <= 1e-5
    assert_honest(problem, found, loss, tolerance=3e-5)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2.0, 6.0, 12.0])
def test_forty_nine_cells_cost_what_highs_says(epsilon):
    weights = 10 ** np.random.default_rng(4).uniform(-3, 0, 49)
    weights[::4] = 0
    problem = problem_on_cells(FORTY_NINE, epsilon, Priors(FORTY_NINE, weights))
    found = exact(problem, Limits(gap=1e-5))
    optimum = optimum_of(problem)
    assert_honest(problem, found, optimum, tolerance=1e-6)
    assert found.loss_km == pytest.approx(optimum, rel=2e-5)


def test_more_privacy_never_costs_less():
    losses = [exact(seven(epsilon, SKEWED), Limits(gap=1e-7)) for epsilon in (1, 2, 4, 8, 16)]
    for private, loose in pairwise(losses):
        assert private.loss_km >= loose.evidence.lower_bound_km
        assert private.loss_km >= loose.loss_km


def test_fewer_columns_never_cost_less():
    losses = [
        exact(seven(3.0, SKEWED, None, SEVEN[:count]), Limits(gap=1e-7)).loss_km
        for count in (7, 4, 2, 1)
    ]
    assert losses == sorted(losses)


def test_only_the_reportable_are_reported_and_every_place_keeps_its_row():
    problem = seven(3.0, SKEWED, None, SEVEN[2:5])
    found = exact(problem, Limits(gap=1e-6))
    assert found.matrix.column_cells == SEVEN[2:5]
    assert found.matrix.row_cells == SEVEN
    assert_honest(problem, found, optimum_of(problem))


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 15.0])
def test_the_universal_mechanism_is_never_better(epsilon):
    problem = seven(epsilon, SKEWED)
    assert universal(problem).loss_km >= exact(problem).evidence.lower_bound_km


def test_a_place_where_nobody_was_seen_is_protected_like_the_others():
    found = exact(seven(4.0, ONLY_ONE))
    matrix = found.matrix.probabilities
    ratios = matrix[:, None] / np.maximum(matrix, 1e-300)
    assert (ratios.max(axis=2) <= np.exp(4.0 * found.problem.distances_km) * (1 + 1e-9)).all()


def test_places_at_one_point_share_one_row_and_can_be_sealed():
    # Two places at one point once had rows that differed by rounding: private at no epsilon.
    table = np.array(plane(2, 30))
    table[:, 20:] = table[:, :10]
    table[20:] = table[:10]
    weights = 10 ** np.random.default_rng(2).uniform(-4, 0, 30)
    problem = problem_on_points([str(n) for n in range(30)], table, 5.0, weights)
    found = exact(problem)
    rows = found.matrix.probabilities
    assert (rows[20:] == rows[:10]).all()
    assert_honest(problem, found, found.loss_km)


def test_many_places_at_one_point_do_not_keep_the_engine_busy_for_ever():
    rng = np.random.default_rng(4)
    points = rng.uniform(0, 2, (53, 2))
    for place in range(0, 52, 3):
        points[place] = points[52 - place // 2]
    table = np.linalg.norm(points[:, None] - points, axis=2)
    problem = problem_on_points(
        [str(n) for n in range(53)], table, 2.0, 10 ** rng.uniform(-4, 0, 53)
    )
    assert exact(problem, Limits(gap=1e-2)).gap <= 1e-2


def test_twins_in_a_warm_start_are_merged_as_well():
    table = np.array([[0, 0, 1.0], [0, 0, 1.0], [1.0, 1.0, 0]])
    costs = np.array([[0, 0, 0.3], [0, 0, 0.3], [0.4, 0.4, 0]])
    cold = solve(table, costs, limits=Limits(gap=1e-6))
    warm = solve(1.1 * table, costs, limits=Limits(gap=1e-6), warm_start=cold.warm_start)
    assert warm.loss == pytest.approx(whole_program(1.1 * table, costs), rel=1e-5)
    assert warm.duals.shape == (3,)
    assert warm.duals.sum() == pytest.approx(warm.loss, rel=1e-4)


def test_no_gap_at_all_is_refused_by_rounding_and_not_sought_for_ever():
    found = exact(seven(5.0, SKEWED), Limits(gap=0.0))
    assert found.evidence.stopped_by == "no progress"
    assert found.gap < 1e-6


@pytest.mark.parametrize("call", [1, 2, 3, 6])
def test_an_interrupt_at_any_time_leaves_a_matrix_that_holds(call):
    calls = []

    def interrupt(*_):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt

    problem = seven(0.5, SKEWED)
    found = exact(problem, Limits(gap=0.0), interrupt)
    assert found.evidence.stopped_by == "interrupt"
    assert_honest(problem, found, optimum_of(problem))


@pytest.mark.parametrize("limits", [Limits(0, seconds=0.0), Limits(0, work=0), Limits(0, work=1)])
def test_the_shortest_limits_leave_a_matrix_that_holds(limits):
    problem = seven(0.5, SKEWED)
    found = exact(problem, limits)
    assert_honest(problem, found, optimum_of(problem))


def test_what_costs_nothing_is_found_at_once():
    for problem in (
        problem_on_cells(SEVEN[:1], 3.0),
        problem_on_points(["a", "b"], np.zeros((2, 2)), 3.0, np.ones(2)),
    ):
        found = exact(problem)
        assert found.loss_km == 0
        assert found.gap == 0
        assert found.audit.holds


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_the_unit_of_the_costs_means_nothing(unit):
    # Priors that are barely numbers beside costs in micrometres once overflowed a quotient.
    for seed in range(6):
        table = plane(seed, 3)
        costs = table * np.array([[1e-315], [1.0], [1e-315]])
        found = solve(2.0 * table, unit * costs, limits=Limits(gap=1e-5))
        assert found.lower_bound <= found.loss < 1e-300 * unit


def test_the_bound_is_rounded_once_however_large_the_duals():
    # Two sums, each rounded, once came to 0.17857146: above the truth.
    duals, excess = np.array([2e8, 1e9]), np.array([1e9, 2e8 - 1.25 / 7])
    exactly = sum(map(Fraction, duals)) - sum(map(Fraction, excess))
    assert exactly * Fraction(1 - 1e-11) <= Fraction(lower_bound(duals, excess)) < exactly
