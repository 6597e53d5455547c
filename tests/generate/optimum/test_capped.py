"""The optimum under caps is the whole program's with every cut written out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from geocorgi.generate.optimum.capped import solve_under_caps
from geocorgi.generate.optimum.capped_master import ROOM, Caps
from geocorgi.generate.optimum.column_generation import Limits, solve
from tests.generate.optimum.instances import plane

FINELY = Limits(gap=1e-5)


def every_cut(rates: np.ndarray, costs: np.ndarray, caps: Caps) -> float:
    """Return the least loss, by one program that holds all pairs and all cuts."""
    size, width = costs.shape
    at = np.arange(size * width).reshape(size, width)
    rows, limits = [], []
    for i, j in zip(*np.nonzero(~np.eye(size, dtype=bool)), strict=True):
        for k in range(width):
            row = np.zeros(size * width)
            row[at[i, k]], row[at[j, k]] = np.exp(-rates[i, j]), -1
            rows.append(row)
            limits.append(0.0)
    for i in range(size):
        counted = [k for k in range(width) if caps.own is None or caps.own[i] != k]
        for removed in combinations(counted, caps.count):
            row = np.zeros(size * width)
            row[at[i, list(removed)]] = 1
            rows.append(row)
            limits.append(caps.most[i])
    sums = np.kron(np.eye(size), np.ones(width))
    found = linprog(costs.ravel(), np.array(rows), limits, sums, np.ones(size), (0, None), "highs")
    assert found.success
    return float(found.fun)


def instance(seed: int, width: int, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    table = np.array(plane(seed, 7))
    priors = 10 ** random.uniform(-3, 0, 7)
    return epsilon * table, priors[:, None] / priors.sum() * table[:, :width]


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.booleans(),
    st.integers(6, 7),
    st.sampled_from([1.0, 4.0]),
    st.floats(0.0, 0.9),
)
def test_it_is_the_best_that_all_cuts_allow(seed, count, spares_own, width, epsilon, share):
    rates, costs = instance(seed, width, epsilon)
    own = np.where(np.arange(7) < width, np.arange(7), -1) if spares_own else None
    most = count / width + share * (1 - count / width) * np.random.default_rng(seed).random(7)
    caps = Caps(most, count, own)
    found, best = solve_under_caps(rates, costs, caps, FINELY), every_cut(rates, costs, caps)
    assert found.gap <= 1e-5
    assert found.lower_bound <= best * (1 + 1e-9)
    assert found.loss == pytest.approx(best, rel=2e-5, abs=1e-7)
    assert found.loss == pytest.approx((costs * found.matrix).sum(), rel=1e-12)


def assert_kept(rates: np.ndarray, caps: Caps, matrix: np.ndarray) -> None:
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert matrix.min() >= 0
    assert (caps.largest(matrix)[1] <= caps.most + ROOM).all()
    bounds = np.exp(rates)[:, :, None] * matrix[None]
    assert (matrix[:, None, :] <= bounds * (1 + 1e-9) + 1e-15).all()


def test_the_matrix_is_in_the_cone_and_under_the_caps():
    rates, costs = instance(3, 7, 3.0)
    caps = Caps(np.linspace(0.45, 0.6, 7), 3, None)
    found = solve_under_caps(rates, costs, caps, FINELY)
    assert_kept(rates, caps, found.matrix)
    assert found.rounds > 0
    assert found.watched.any()


def test_lowest_caps_leave_the_uniform_matrix():
    rates, costs = instance(3, 7, 3.0)
    found = solve_under_caps(rates, costs, Caps(np.full(7, 2 / 7), 2, None), FINELY)
    assert found.matrix == pytest.approx(np.full((7, 7), 1 / 7), abs=1e-6)


def test_caps_that_nothing_reaches_cost_nothing():
    rates, costs = instance(5, 7, 4.0)
    free = solve(rates, costs, limits=FINELY)
    found = solve_under_caps(rates, costs, Caps(np.full(7, 1 - 1e-9), 1, None), FINELY)
    assert found.loss == pytest.approx(free.loss, rel=1e-5)
    assert not found.charges.any()


def test_a_search_goes_on_where_another_ended():
    rates, costs = instance(8, 7, 4.0)
    caps = Caps(np.full(7, 0.6), 3, None)
    coarse = solve_under_caps(rates, costs, caps, Limits(gap=0.05))
    fine = solve_under_caps(rates, costs, caps, FINELY, coarse)
    assert_kept(rates, caps, fine.matrix)
    assert fine.loss <= coarse.loss
    assert fine.loss == pytest.approx(every_cut(rates, costs, caps), rel=2e-5)


def test_work_is_limited_and_the_bound_holds_all_the_same():
    rates, costs = instance(8, 7, 4.0)
    caps = Caps(np.full(7, 0.6), 3, None)
    found = solve_under_caps(rates, costs, caps, Limits(gap=1e-9, work=1))
    assert_kept(rates, caps, found.matrix)
    assert found.lower_bound <= every_cut(rates, costs, caps) <= found.loss + 1e-7


def test_an_own_column_is_not_watched_however_little_the_others_have():
    caps = Caps(np.full(4, 0.5), 2, np.array([0, 1, 2, -1]))
    matrix = np.eye(4)
    columns, shares = caps.largest(matrix)
    assert all(own not in found for own, found in zip([0, 1, 2], columns[:3], strict=True))
    assert shares.tolist() == [0.0, 0.0, 0.0, 1.0]
