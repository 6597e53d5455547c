"""A reserve for each pair and column: what is reserved is what is needed, and it costs far less."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells, problem_on_points
from geocorgi.generate.reserved_budget import exact_budget, reserves_of_row
from geocorgi.generate.robust_columns import Columns, Judged
from geocorgi.generate.robust_reserves import Pruning
from geocorgi.generate.universal import universal
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors

SEVEN = LocationTree("88283082a9fffff", 1).leaves
FORTY_NINE = LocationTree("872830828ffffff", 2).leaves


def silent(_):
    pass


def columns_of(problem: ObfuscationProblem, delta: int) -> Columns:
    exponents = problem.epsilon_per_km * problem.distances_km
    return Columns(problem, exponents, Pruning(delta, None), silent)


def keep(problem: ObfuscationProblem, delta: int) -> Judged | None:
    return columns_of(problem, delta).settled()


@pytest.mark.parametrize("own", [None, np.arange(6)])
def test_a_columns_reserve_is_the_worst_of_all_sets_without_it(own):
    matrix = np.random.default_rng(3).dirichlet(np.full(6, 0.3), 6) + 1e-6
    for i in range(6):
        found = reserves_of_row(i, matrix, 2, own)
        for j in range(6):
            spared = {i, j} if own is not None and i != j else {i} if own is not None else set()
            for k in range(6):
                able = [at for at in range(6) if at != k and at not in spared]
                worst = max(
                    np.delete(matrix[j], one).sum() / np.delete(matrix[i], one).sum()
                    for one in chain.from_iterable(combinations(able, n) for n in range(3))
                )
                assert found[j, k] == pytest.approx(np.log(worst), abs=1e-12)


def test_what_is_reserved_is_what_is_needed():
    problem = problem_on_cells(SEVEN, 6.0)
    found = keep(problem, 2)
    exponents = problem.epsilon_per_km * problem.distances_km
    needs = exact_budget(found.made.matrix, 2).needs
    apart = exponents > 0
    assert 1 - 1e-5 < (needs[apart] / exponents[apart]).max() <= 1


def test_no_other_matrix_under_the_same_reserves_costs_less():
    problem = problem_on_cells(SEVEN, 6.0)
    found = keep(problem, 2)
    loss = float((problem.costs * found.made.matrix).sum())
    assert loss * (1 - 1e-3) < found.bound_km(problem.costs) <= loss


def test_own_columns_that_reserve_nothing_make_keeping_rows_cheap():
    problem = problem_on_cells(FORTY_NINE, 15.0)
    found = keep(problem, 2)
    loss = float((problem.costs * found.made.matrix).sum())
    assert loss < 0.0086  # 0.043 is what one reserve for a pair comes to
    assert loss < universal(problem).loss_km / 8


def test_what_has_no_closed_form_is_left_to_others():
    assert keep(problem_on_cells(SEVEN, 5.0, reportable=SEVEN[:5]), 1) is None
    twins = np.zeros((3, 3))
    twins[2, :2] = twins[:2, 2] = 1.0
    assert keep(problem_on_points(["a", "b", "c"], twins, 1.0, np.ones(3)), 1) is None


@pytest.mark.parametrize("columns", [5, 7])
def test_mixtures_serve_filters_and_the_prior_as_it_is(columns):
    weights = np.array([9.0, 0, 1, 1, 4, 0, 2])
    problem = problem_on_cells(SEVEN, 5.0, Priors(SEVEN, weights), reportable=SEVEN[:columns])
    own = columns_of(problem, 2)
    settled = own.settled()
    mixed = own.mixed(settled)
    exponents = problem.epsilon_per_km * problem.distances_km
    needs = exact_budget(mixed.made.matrix, 2).needs
    assert (needs <= exponents * (1 + 1e-12)).all()
    assert own.loss_km(mixed) < universal(problem).loss_km
    assert mixed.bound_km(problem.costs) <= own.loss_km(mixed) * (1 + 1e-9)
    if settled is not None:
        assert own.loss_km(mixed) < own.loss_km(settled)
