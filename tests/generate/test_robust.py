"""What comes out is δ-prunable, by enumeration too, costs what it says, and beats what is safe."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidInput, NotPrivate
from geocorgi.generate.exact import exact
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells, problem_on_points
from geocorgi.generate.robust import Robust, robust
from geocorgi.generate.robust_candidate import Removal, certified
from geocorgi.generate.universal import universal
from geocorgi.matrix.geo_ind import smallest_epsilon
from geocorgi.matrix.prunable import Rows, certify, own_columns
from geocorgi.matrix.pruning import prune
from geocorgi.matrix.quality_loss import quality_loss_km
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors
from tests.generate.optimum.instances import plane

SEVEN = LocationTree("88283082a9fffff", 1).leaves
FORTY_NINE = LocationTree("872830828ffffff", 2).leaves
SKEWED = np.array([1000.0, 0, 30, 0, 1, 0.001, 0])
QUICKLY = Limits(gap=1e-3)


def seven(epsilon: float, weights: np.ndarray | None = None, **more) -> ObfuscationProblem:
    return problem_on_cells(
        SEVEN, epsilon, None if weights is None else Priors(SEVEN, weights), **more
    )


def forty_nine(epsilon: float, weights: np.ndarray | None = None, **more) -> ObfuscationProblem:
    priors = None if weights is None else Priors(FORTY_NINE, weights)
    return problem_on_cells(FORTY_NINE, epsilon, priors, **more)


def worst_pruning(found: Robust) -> float:
    """Prune every set of at most δ columns, one after the other, and audit what is left."""
    cells = found.sealed.column_cells
    places = {cell: at for at, cell in enumerate(found.problem.places)}
    worst = 0.0
    for removed in chain.from_iterable(combinations(cells, n) for n in range(found.delta + 1)):
        left = prune(found.sealed, removed, found.rows)
        at = [places[cell] for cell in left.row_cells]
        table = found.problem.distances_km[np.ix_(at, at)]
        worst = max(worst, smallest_epsilon(left.weights, table))
    return worst


def assert_honest(found: Robust) -> None:
    problem, certificate = found.problem, found.certificate
    assert certificate.holds
    assert (certificate.delta, certificate.rows) == (found.delta, found.rows)
    again = certify(
        found.sealed.weights,
        problem.distances_km,
        problem.epsilon_per_km,
        found.delta,
        found.rows,
        own_columns(problem.places, problem.reportable),
    )
    assert again.holds
    shares = found.sealed.weights / np.float64(2**62)
    assert found.loss_km == pytest.approx((problem.costs * shares).sum(), rel=1e-12)
    assert found.loss_km <= universal(problem).loss_km * (1 + 1e-6)


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.5, 4.0, 12.0]),
    st.integers(0, 4),
    st.sampled_from(list(Rows)),
    st.integers(6, 7),
)
def test_every_pruning_of_seven_leaves_keeps_the_promise(seed, epsilon, delta, rows, columns):
    random = np.random.default_rng(seed)
    weights = 10 ** random.uniform(-4, 0, 7) * (random.random(7) > 0.3) + np.eye(7)[seed % 7]
    reportable = sorted(random.permutation(SEVEN)[:columns].tolist())
    problem = seven(epsilon, weights if seed % 3 else None, reportable=reportable)
    found = robust(problem, delta, rows, QUICKLY)
    assert_honest(found)
    assert worst_pruning(found) <= epsilon


@pytest.mark.parametrize("rows", list(Rows))
def test_it_holds_at_epsilon_and_fails_just_below_where_it_is_tight(rows):
    found = robust(seven(6.0), 2, rows)
    assert found.certificate.smallest_epsilon_per_km == pytest.approx(6.0, rel=2e-3)
    worst = worst_pruning(found)
    assert worst <= 6.0
    assert worst == pytest.approx(found.certificate.smallest_epsilon_per_km, rel=1e-7)


def test_one_more_removal_than_promised_can_break_it():
    # Otherwise nothing would have been saved over what survives every pruning.
    found = robust(seven(6.0), 1, Rows.DROP)
    assert worst_pruning(replace(found, delta=3)) > 6.0


@pytest.mark.parametrize(
    ("epsilon", "rows", "delta", "loss_km"),
    [
        (5.0, Rows.DROP, 1, 0.161),
        (5.0, Rows.DROP, 2, 0.1662),
        (5.0, Rows.DROP, 5, 0.1768),
        (15.0, Rows.DROP, 1, 0.00536),
        (15.0, Rows.DROP, 7, 0.00540),
        (5.0, Rows.DROP, 16, 0.193),
        (5.0, Rows.KEEP, 1, 0.177),
        (5.0, Rows.KEEP, 4, 0.201),
        (5.0, Rows.KEEP, 16, 0.244),
        (15.0, Rows.KEEP, 1, 0.0080),
        (15.0, Rows.KEEP, 2, 0.0086),
    ],
)
def test_forty_nine_leaves_cost_no_more_than_is_known_to_be_possible(epsilon, rows, delta, loss_km):
    found = robust(forty_nine(epsilon), delta, rows, QUICKLY)
    assert_honest(found)
    assert exact(found.problem).evidence.lower_bound_km < found.loss_km < loss_km


@pytest.mark.slow
@pytest.mark.parametrize("rows", list(Rows))
def test_a_prior_full_of_zeros_costs_hardly_more_than_a_uniform_one(rows):
    # The plain iteration falls apart here, its matrices jumping from corner to corner.
    random = np.random.default_rng(4)
    weights = 10 ** random.uniform(-3, 0, 49) * (random.random(49) > 0.4)
    found = robust(forty_nine(5.0, weights), 5, rows, QUICKLY)
    assert_honest(found)
    assert found.loss_km < 1.1 * robust(forty_nine(5.0), 5, rows, QUICKLY).loss_km
    assert found.lower_bound_km < found.loss_km


@pytest.mark.parametrize("rows", list(Rows))
def test_more_removals_never_cost_less(rows):
    losses = [robust(seven(5.0), delta, rows).loss_km for delta in range(6)]
    assert all(more >= less * (1 - 1e-3) for less, more in pairwise(losses))


def test_where_nothing_beats_the_universal_mechanism_it_is_returned_and_said():
    found = robust(seven(0.5), 5, Rows.KEEP)
    assert_honest(found)
    assert found.method.startswith("universal")
    assert found.lower_bound_km is None


def test_someone_who_is_always_at_one_place_loses_nothing():
    found = robust(seven(5.0, np.eye(7)[2]), 2, Rows.DROP)
    assert_honest(found)
    assert found.loss_km < 1e-9


def test_no_removal_is_the_optimum():
    problem = seven(5.0, SKEWED)
    found, optimum = robust(problem, 0), exact(problem)
    assert found.loss_km == pytest.approx(optimum.loss_km, rel=1e-4)
    assert found.lower_bound_km <= found.loss_km
    assert found.iterations == ()


def test_a_public_filter_costs_less_than_pruning_the_same_cells():
    filtered = robust(forty_nine(5.0, reportable=FORTY_NINE[::3]), 2, Rows.KEEP, QUICKLY)
    whole = universal(forty_nine(5.0))  # what survives the removal of so many
    assert_honest(filtered)
    left = prune(whole.matrix, set(FORTY_NINE) - set(FORTY_NINE[::3]), Rows.KEEP)
    assert filtered.loss_km < 0.9 * (filtered.problem.costs * left.probabilities).sum()


def test_plain_places_can_be_pruned_too_and_twins_stay_twins():
    table = np.array(plane(2, 9))
    table[:, 8], table[8] = table[:, 0], table[0]
    table[0, 8] = table[8, 0] = table[8, 8] = 0.0
    problem = problem_on_points([str(n) for n in range(9)], table, 4.0, np.arange(9.0))
    for rows in Rows:
        found = robust(problem, 2, rows)
        assert_honest(found)
        assert worst_pruning(found) <= 4.0


def test_the_loss_is_the_one_that_the_paper_defines():
    problem = seven(5.0, SKEWED)
    found = robust(problem, 1, Rows.DROP)
    shares = found.sealed.weights / np.float64(2**62)
    matrix = replace(exact(problem).matrix, probabilities=shares)
    told = quality_loss_km(matrix, problem.priors, problem.detours_km)
    assert found.loss_km == pytest.approx(told, rel=1e-12)


def test_the_same_question_has_the_same_answer_whatever_the_clock_says():
    once = robust(seven(5.0, SKEWED), 2, Rows.KEEP, QUICKLY)
    again = robust(seven(5.0, SKEWED), 2, Rows.KEEP, replace(QUICKLY, seconds=1e-9))
    assert (once.sealed.weights == again.sealed.weights).all()


def test_every_round_is_told():
    told = []
    found = robust(seven(5.0), 2, Rows.DROP, on_progress=told.append)
    assert tuple(told) == found.iterations
    assert told[0].change == 0
    assert all(one.loss_km > 0 and 0 <= one.change <= 1 for one in told)


def test_an_interrupt_between_rounds_is_an_interrupt():
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        robust(seven(5.0), 2, Rows.DROP, on_progress=interrupt)


@pytest.mark.parametrize("delta", [-1, 6, True, 1.0, "2"])
def test_a_delta_that_cannot_be_is_refused(delta):
    with pytest.raises(InvalidInput, match="from 0 to 5"):
        robust(seven(5.0), delta)


def test_what_is_not_prunable_is_not_sealed_as_if_it_were():
    problem = seven(5.0)
    optimum = exact(problem).matrix
    assert certified(problem, optimum, Removal(0, Rows.DROP), "exact").certificate.holds
    with pytest.raises(NotPrivate, match="not 2-prunable"):
        certified(problem, optimum, Removal(2, Rows.DROP), "exact")


@pytest.mark.slow
@pytest.mark.parametrize("rows", list(Rows))
def test_every_delta_is_possible_up_to_two_less_than_the_places(rows):
    for delta in range(0, 48, 8):
        assert_honest(robust(forty_nine(15.0), delta, rows, QUICKLY))
    assert_honest(robust(forty_nine(15.0), 47, rows, QUICKLY))


@pytest.mark.slow
def test_three_hundred_and_forty_three_leaves_are_certified():
    leaves = LocationTree("86283082fffffff", 3).leaves
    problem = problem_on_cells(leaves, 15.0)
    found = robust(problem, 5, Rows.DROP, QUICKLY)
    assert_honest(found)
    assert found.loss_km < 0.0063
    assert (distances.between_cells(leaves) == problem.distances_km).all()
