"""Every step is δ-prunable, by enumeration too, and none costs more than the one before."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidInput, NotPrivate
from geocorgi.generate import robust as robust_module
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells, problem_on_points
from geocorgi.generate.robust import Robust, monotone, robust
from geocorgi.generate.robust_candidate import Removal, certified
from geocorgi.generate.robust_monotone import HIGHEST, CapStep, Lowering
from geocorgi.generate.robust_reserves import Pruning
from geocorgi.generate.universal import universal
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Rows, own_columns
from geocorgi.matrix.sealing import epsilon_to_solve
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors
from tests.generate.optimum.instances import plane

SEVEN = LocationTree("88283082a9fffff", 1).leaves
FORTY_NINE = LocationTree("872830828ffffff", 2).leaves
SKEWED = np.array([1000.0, 0, 30, 0, 1, 0.001, 0])
UNEVEN = np.array([5.0, 1, 2, 3, 1, 0, 2])
QUICKLY = Limits(gap=1e-3)


def seven(epsilon: float, weights: np.ndarray | None = None, **more) -> ObfuscationProblem:
    return problem_on_cells(
        SEVEN, epsilon, None if weights is None else Priors(SEVEN, weights), **more
    )


def lowering(problem: ObfuscationProblem, delta: int, rows: Rows) -> Lowering:
    own = own_columns(problem.places, problem.reportable) if rows is Rows.DROP else None
    narrower = epsilon_to_solve(problem.epsilon_per_km, problem.distances_km)
    return Lowering(problem, narrower * problem.distances_km, Pruning(delta, own), QUICKLY)


def worst_pruning(problem: ObfuscationProblem, matrix: np.ndarray, delta: int, rows: Rows) -> float:
    """Remove every set of at most δ columns; return the smallest epsilon that survives them all."""
    own, worst = own_columns(problem.places, problem.reportable), 0.0
    width = matrix.shape[1]
    for removed in chain.from_iterable(combinations(range(width), n) for n in range(delta + 1)):
        stay = [i for i in range(len(matrix)) if rows is Rows.KEEP or own[i] not in removed]
        left = np.delete(matrix[stay], removed, axis=1)
        left = left[:, left.max(axis=0) > 0] / left.sum(axis=1, keepdims=True)
        needed = (np.log(left)[:, None] - np.log(left)[None]).max(axis=2)
        table = problem.distances_km[np.ix_(stay, stay)]
        assert needed[table == 0].max(initial=0.0) <= 1e-9
        worst = max(worst, (needed[table > 0] / table[table > 0]).max(initial=0.0))
    return worst


def assert_prunable(problem: ObfuscationProblem, step: CapStep, delta: int, rows: Rows) -> None:
    matrix = step.found.matrix
    assert worst_pruning(problem, matrix, delta, rows) <= problem.epsilon_per_km
    kept = ObfuscationMatrix(problem.places, problem.reportable, problem.level, matrix)
    sealed = certified(problem, kept, Removal(delta, rows), "a step")
    assert sealed.certificate.holds
    assert sealed.loss_km == pytest.approx(step.found.loss, rel=1e-6, abs=1e-9)


@settings(max_examples=15)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.5, 4.0, 12.0]),
    st.integers(1, 4),
    st.sampled_from(list(Rows)),
    st.integers(6, 7),
    st.floats(0.0, 0.99),
)
def test_every_step_survives_every_pruning_and_costs_no_more(
    seed, epsilon, delta, rows, columns, share
):
    random = np.random.default_rng(seed)
    weights = 10 ** random.uniform(-4, 0, 7) * (random.random(7) > 0.3) + np.eye(7)[seed % 7]
    reportable = sorted(random.permutation(SEVEN)[:columns].tolist())
    problem = seven(epsilon, weights if seed % 3 else None, reportable=reportable)
    lowered = lowering(problem, delta, rows)
    caps = lowered.lowest + share * (1 - lowered.lowest) * random.random(7)
    steps = list(lowered.steps(caps))
    for step in steps:
        assert_prunable(problem, step, delta, rows)
        assert step.found.lower_bound <= step.found.loss
    for before, after in pairwise(steps):
        assert after.found.loss <= before.found.loss
        assert (after.caps <= before.caps).all()


@pytest.mark.parametrize("rows", list(Rows))
def test_lowering_the_caps_saves_much(rows):
    lowered = lowering(seven(5.0), 2, rows)
    first, *_, last = lowered.steps(np.full(7, 0.8))
    assert last.found.loss < 0.85 * first.found.loss


@pytest.mark.parametrize("rows", list(Rows))
@pytest.mark.parametrize("columns", [6, 7])
def test_there_is_always_a_start(rows, columns):
    problem = seven(5.0, reportable=SEVEN[:columns])
    lowered = lowering(problem, 3, rows)
    first = next(lowered.steps(np.full(7, 3 / columns)))
    assert_prunable(problem, first, 3, rows)
    if rows is Rows.KEEP:  # nothing else has so little in its largest entries
        assert first.found.matrix == pytest.approx(np.full((7, columns), 1 / columns), abs=1e-6)


@pytest.mark.parametrize("caps", [np.full(7, 0.2), np.ones(7), np.full(6, 0.5), np.full(7, np.nan)])
def test_caps_that_cannot_be_are_refused(caps):
    with pytest.raises(InvalidInput, match="caps"):
        next(lowering(seven(5.0), 2, Rows.KEEP).steps(caps))


def test_half_of_epsilon_is_a_start_that_is_never_lost():
    # Where its shares are small enough its rates are no higher than what the caps leave.
    problem = seven(3.0, UNEVEN)
    lowered = lowering(problem, 2, Rows.KEEP)
    safe = universal(replace(problem, epsilon_per_km=1.5)).matrix.probabilities
    caps = lowered.starts(safe)[0]
    nearest = lowered.exponents[lowered.exponents > 0].min()
    assert caps.max() <= 1 / (1 + np.exp(-nearest / 2))
    last = list(lowered.steps(caps))[-1]
    assert last.found.loss <= float((problem.costs * safe).sum()) * (1 + 1e-3)


def assert_honest(found: Robust, rows: Rows) -> None:
    assert found.certificate.holds
    assert (found.method, found.rows) == ("monotone (caps)", rows)
    shares = found.sealed.weights / np.float64(2**62)
    assert worst_pruning(found.problem, shares, found.delta, rows) <= found.epsilon_per_km
    assert found.loss_km == pytest.approx((found.problem.costs * shares).sum(), rel=1e-12)
    assert found.lower_bound_km <= found.loss_km
    assert found.iterations[-1].loss_km == pytest.approx(found.loss_km, rel=1e-6)


@pytest.mark.parametrize("rows", list(Rows))
@pytest.mark.parametrize("weights", [None, SKEWED])
def test_it_can_be_asked_for_alone(rows, weights):
    problem, told = seven(5.0, weights), []
    found = monotone(problem, 2, rows, QUICKLY, told.append)
    assert_honest(found, rows)
    assert tuple(told) == found.iterations
    assert found.loss_km < universal(problem).loss_km
    assert found.loss_km > 0.99 * robust(problem, 2, rows, QUICKLY).loss_km


def test_without_removals_there_is_nothing_to_cap():
    assert monotone(seven(5.0), 0).method == "exact"
    with pytest.raises(InvalidInput, match="from 0 to 5"):
        monotone(seven(5.0), 6)


def test_twins_stay_twins():
    table = np.array(plane(2, 9))
    table[:, 8], table[8] = table[:, 0], table[0]
    table[0, 8] = table[8, 0] = table[8, 8] = 0.0
    problem = problem_on_points([str(n) for n in range(9)], table, 4.0, np.arange(9.0))
    for rows in Rows:
        found = monotone(problem, 2, rows, QUICKLY)
        assert_honest(found, rows)
        assert (found.sealed.weights[0] == found.sealed.weights[8]).all()


def make_the_ways_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robust_module, "_by_columns", lambda *_: iter(()))
    monkeypatch.setattr(robust_module, "_closed", lambda *_: None)


@pytest.mark.parametrize(("rows", "weights"), [(Rows.DROP, UNEVEN), (Rows.KEEP, None)])
def test_where_all_ways_fail_the_caps_are_fallen_back_on(rows, weights, monkeypatch):
    usual = robust(seven(5.0, weights), 2, rows, QUICKLY)
    assert "monotone" not in usual.method
    make_the_ways_fail(monkeypatch)
    found = robust(seven(5.0, weights), 2, rows, QUICKLY)
    assert_honest(found, rows)
    assert usual.loss_km < found.loss_km < universal(found.problem).loss_km


def test_what_is_dearer_than_the_universal_mechanism_is_not_returned(monkeypatch):
    make_the_ways_fail(monkeypatch)
    assert monotone(seven(5.0), 5, Rows.KEEP).loss_km > universal(seven(5.0)).loss_km
    assert robust(seven(5.0), 5, Rows.KEEP).method.startswith("universal")


def test_where_a_way_succeeds_no_caps_are_tried(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(robust_module, "_lowered", refuse)
    for rows in Rows:
        assert robust(seven(5.0), 2, rows).method.startswith("exact")


def test_a_matrix_that_is_not_certified_is_not_returned(monkeypatch):
    careless = replace(lowering(seven(5.0), 2, Rows.KEEP), pruning=Pruning(1, None))
    step = next(careless.steps(np.full(7, 0.5)))
    monkeypatch.setattr(robust_module.Lowering, "cheapest", lambda *_: step)
    with pytest.raises(NotPrivate, match="use robust"):
        monotone(seven(5.0), 2, Rows.KEEP)
    make_the_ways_fail(monkeypatch)
    assert robust(seven(5.0), 2, Rows.KEEP).method.startswith("universal")


def test_no_cap_is_so_high_that_a_row_could_be_emptied():
    safe = np.eye(7)[np.zeros(7, dtype=int)]
    assert lowering(seven(5.0), 2, Rows.KEEP).starts(safe)[0].max() == HIGHEST < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "delta", "loss_km"),
    [(Rows.DROP, 2, 0.173), (Rows.KEEP, 2, 0.215), (Rows.DROP, 5, 0.21), (Rows.KEEP, 5, 0.262)],
)
def test_forty_nine_leaves_cost_far_less_than_universal(rows, delta, loss_km):
    found = monotone(problem_on_cells(FORTY_NINE, 5.0), delta, rows, QUICKLY)
    assert found.certificate.holds
    assert found.lower_bound_km <= found.loss_km < loss_km
