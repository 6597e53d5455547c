"""The parts of the engine, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from geocorgi.errors import LossBelowBound
from geocorgi.generate.costs import expected_detours_km
from geocorgi.generate.optimum.closed_form import closed_form
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.cone import (
    cone_of,
    flat_tops,
    metric_closure,
    projected,
    rays_over,
)
from geocorgi.generate.optimum.interior_point import Centre, solve_master
from geocorgi.generate.optimum.pool import pool_of
from geocorgi.generate.optimum.pricing import Pricer
from geocorgi.generate.optimum.repair import repaired
from geocorgi.generate.optimum.safe_bound import lower_bound
from geocorgi.generate.optimum.shipping import demands_of, nearest_places, shipped_greedily
from tests.generate.optimum.instances import detours, hexagon, plane, quality_costs, worst_excess

UNIFORM = np.full(7, 1 / 7)


def true_price(cone, worth):
    """The best price of a ray with entries of at most one, by HiGHS on the whole cone."""
    size = cone.size
    rows = []
    for i in range(size):
        for j in range(size):
            if i != j:
                row = np.zeros(size)
                row[i], row[j] = np.exp(-cone.rates[i, j]), -1.0
                rows.append(row)
    found = linprog(-worth, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=(0, 1))
    assert found.success
    return -found.fun


def test_costs_are_the_plain_loops():
    prior, targets = np.random.default_rng(1).dirichlet(np.ones(7), 2)
    np.testing.assert_allclose(
        quality_costs(hexagon(), prior, targets), detours(hexagon(), prior, targets), rtol=1e-13
    )


@pytest.mark.parametrize("size", [1, 64, 65, 150])
def test_costs_of_all_columns_are_mirrored_to_the_last_bit(size):
    tables, targets = np.random.default_rng(size).random((2, size, size))
    every = expected_detours_km(tables, range(size), targets[0])
    assert (every == every.T).all()
    backwards = expected_detours_km(tables, range(size)[::-1], targets[0])
    assert (every[:, ::-1] == backwards).all()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from([0.1, 2.0, 30.0]))
def test_every_kind_of_ray_lies_in_the_cone(seed, size, epsilon):
    rng = np.random.default_rng(seed)
    cone = cone_of(epsilon * plane(seed, size))
    seeds = rng.permutation(size)[: rng.integers(1, size + 1)]
    rays = np.column_stack(
        [cone.kernel, flat_tops(cone), rays_over(cone, seeds, rng.random(len(seeds)))]
    )
    assert worst_excess(cone, rays) < 1e-12
    np.testing.assert_allclose(projected(cone, rays), rays, rtol=1e-12)


def test_a_column_outside_the_cone_is_seen_and_raised():
    cone = cone_of(2.0 * hexagon())
    outside = np.ones((7, 1))
    outside[0] = 10.0
    assert worst_excess(cone, outside) > 1
    assert worst_excess(cone, projected(cone, outside)) < 1e-12


def test_the_closure_is_the_shortest_way():
    rates = np.array([[0.0, 5, 1], [5, 0, 1], [9, 1, 0]])
    assert metric_closure(rates).tolist() == [[0, 2, 1], [5, 0, 1], [6, 1, 0]]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 3.0, 12.0]))
def test_what_greedy_shipping_leaves_bounds_every_price(seed, epsilon):
    cone = cone_of(epsilon * plane(seed, 8))
    worth = np.random.default_rng(seed).normal(-0.3, 1.0, (8, 8))
    demands = demands_of(worth)
    shipped = shipped_greedily(cone, nearest_places(cone), worth, demands)
    left = np.bincount(demands.columns, shipped.left, minlength=8)
    for column in range(8):
        assert true_price(cone, worth[column]) <= left[column] + 1e-6


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 3.0, 12.0]))
def test_prices_are_proved_and_reached(seed, epsilon):
    rng = np.random.default_rng(seed)
    cone = cone_of(epsilon * plane(seed, 8))
    costs = rng.uniform(0, 1, (8, 8))
    duals = rng.uniform(0, 0.7, 8)
    prices = Pricer(cone, cone, costs).price(duals, 1e-9)
    truths = [true_price(cone, duals - costs[:, column]) for column in range(8)]
    assert max(truths) <= prices.excess.sum() + 1e-7
    reached = ((duals - costs.T) @ prices.rays).max(initial=0.0)
    assert reached == pytest.approx(max(*truths, 0.0), abs=1e-6)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_lowered_duals_have_no_price_anywhere(seed):
    rng = np.random.default_rng(seed)
    cone = cone_of(3.0 * plane(seed, 7))
    costs, duals = rng.uniform(0, 1, (7, 7)), rng.uniform(0, 0.7, 7)
    prices = Pricer(cone, cone, costs).price(duals, 1e-9)
    lowered = duals - prices.excess
    for column in range(7):
        assert true_price(cone, lowered - costs[:, column]) <= 1e-6
    assert lower_bound(duals, prices.excess) <= lowered.sum()


def test_a_proof_cut_short_by_the_clock_is_still_a_proof():
    rng = np.random.default_rng(4)
    cone = cone_of(2.0 * plane(4, 9))
    costs, duals = rng.uniform(0, 1, (9, 9)), rng.uniform(0, 0.7, 9)
    whole = Pricer(cone, cone, costs).price(duals, 1e-9)
    cut = Pricer(cone, cone, costs).price(duals, 1e-9, expired=lambda: True)
    assert cut.solves == 0
    assert lower_bound(duals, cut.excess) <= lower_bound(duals, whole.excess) + 1e-12


def test_the_master_finds_the_corner_that_a_simplex_finds():
    rng = np.random.default_rng(6)
    rays, costs = rng.random((5, 40)), rng.random(40)
    point = solve_master(rays, costs, 1e-9)
    corner = linprog(costs, A_eq=rays, b_eq=np.ones(5))
    assert costs @ point.weights == pytest.approx(corner.fun, rel=1e-7)
    np.testing.assert_allclose(rays @ point.weights, 1, atol=1e-12)
    assert (rays.T @ point.duals <= costs + 1e-7).all()


def test_a_master_cut_short_by_the_clock_returns_finite_weights():
    rng = np.random.default_rng(6)
    rays, costs = rng.random((5, 40)), rng.random(40)
    ticks = iter([False, False, *[True] * 9])
    point = solve_master(rays, costs, 1e-9, expired=lambda: next(ticks))
    assert np.isfinite(point.weights).all()
    assert (point.weights > 0).all()


def test_a_stiff_centre_holds_the_duals():
    rng = np.random.default_rng(6)
    rays, costs = rng.random((5, 40)), rng.random(40)
    middle = 0.01 * rng.random(5)
    held = solve_master(rays, costs, 1e-6, Centre(middle, np.full(5, 1e6)))
    np.testing.assert_allclose(held.duals, middle, atol=1e-4)


def test_rows_that_miss_one_are_repaired_inside_the_cone():
    cone = cone_of(2.0 * hexagon())
    weights = np.linalg.solve(cone.kernel, np.ones(7))
    crooked = cone.kernel * weights * (1 + 1e-6 * np.arange(7))
    fixed = repaired(cone, crooked, np.ones((7, 7)))
    np.testing.assert_allclose(fixed.sum(axis=1), 1, atol=1e-15)
    assert worst_excess(cone, fixed) < 1e-12
    assert repaired(cone, np.eye(7) * np.arange(7)[:, None], np.ones((7, 7))) is None


def test_the_closed_form_is_feasible_or_absent():
    cone = cone_of(10.0 * hexagon())
    costs = quality_costs(hexagon(), UNIFORM, UNIFORM)
    candidate = closed_form(cone, pool_of(cone.kernel, costs))
    np.testing.assert_allclose(cone.kernel @ candidate.weights, 1, atol=1e-13)
    twins = cone_of(np.zeros((3, 3)))
    assert closed_form(twins, pool_of(twins.kernel, np.ones((3, 3)))) is None


def test_seven_uniform_cells_are_proved_optimal_in_closed_form():
    costs = quality_costs(hexagon(), UNIFORM, UNIFORM)
    found = solve(10.0 * hexagon(), costs, limits=Limits(gap=1e-9))
    assert found.method == "closed form"


def test_a_false_bound_raises(monkeypatch):
    monkeypatch.setattr("geocorgi.generate.optimum.column_generation.lower_bound", lambda *_: 1e3)
    with pytest.raises(LossBelowBound):
        solve(hexagon(), quality_costs(hexagon(), UNIFORM, UNIFORM))


def test_a_bound_leaves_the_room_that_its_own_rounding_may_need():
    duals, lowered = np.array([0.25, 2.0, 0.75]), np.array([0.0, 0.5, 0.5])
    needed = 7e-13  # ADR 5, for 2,401 places
    assert 2 * (1 - 1e-11) < lower_bound(duals, lowered) < 2 * (1 - needed)
    assert lower_bound(-duals, lowered) < -4 * (1 + needed)
