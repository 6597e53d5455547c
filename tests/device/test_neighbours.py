"""Two neighbours, 100,000 reports each: what an adversary who counts can see.

All thresholds are exact binomial bounds at a chance of 1e-9 for each comparison, so that an honest
mechanism fails once in ten million runs; the controls show that a dishonest one fails every time.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import beta, chi2

from geocorgi.device.areas import ListedCells
from geocorgi.device.obfuscate import customised_for, drawn
from geocorgi.device.policy import Policy, Protection
from geocorgi.device.preparation import prepare
from geocorgi.tree import cells, distances
from tests.device.forests import device_on, optimal_forest, quick_forest
from tests.wire.maps import LEAVES, small_map

DRAWS = 100_000
CHANCE = 1e-9
ONE, OTHER = LEAVES[22], LEAVES[23]
DISTANCE_KM = float(distances.between_cells((ONE, OTHER))[0, 1])
MAP = small_map()

CASES = [
    pytest.param(Policy(2, 1), optimal_forest, id="the optimum, coarsened"),
    pytest.param(
        Policy(2, 0, black_list=(ListedCells(LEAVES[22:24]),)),
        quick_forest,
        id="both stand in removed places",
    ),
    pytest.param(
        Policy(2, 0, black_list=(ListedCells(LEAVES[:30:3]),)),
        quick_forest,
        id="beyond delta: universal on the device",
    ),
    pytest.param(
        Policy(1, 0, black_list=(ListedCells((ONE,)),), decoys=True),
        optimal_forest,
        marks=pytest.mark.slow,
        id="robust, home removed, decoys",
    ),
]


def counted(policy: Policy, make, real_leaf: str) -> Counter[str]:
    prepared = prepare(policy, device_on(MAP, make))
    customised = customised_for(prepared, real_leaf, policy.precision_level)
    resolution = MAP.leaf_resolution - policy.precision_level
    return Counter(
        cells.ancestor(drawn(customised, policy, real_leaf), resolution) for _ in range(DRAWS)
    )


def bounds(count: int) -> tuple[float, float]:
    """Return between which chances such a count is possible (Clopper and Pearson)."""
    lower = beta.ppf(CHANCE, count, DRAWS - count + 1) if count else 0.0
    upper = beta.ppf(1 - CHANCE, count + 1, DRAWS - count) if count < DRAWS else 1.0
    return float(lower), float(upper)


def told_apart(one: Counter[str], other: Counter[str], epsilon_per_km: float) -> list[str]:
    """Return the reports that surely tell the two apart more than epsilon allows."""
    factor = math.exp(epsilon_per_km * DISTANCE_KM)
    return [
        cell
        for mine, theirs in ((one, other), (other, one))
        for cell in mine
        if bounds(mine[cell])[0] > factor * bounds(theirs[cell])[1]
    ]


@pytest.mark.parametrize(("policy", "make"), CASES)
def test_no_report_tells_two_neighbours_apart_more_than_epsilon_allows(policy, make):
    one, other = counted(policy, make, ONE), counted(policy, make, OTHER)
    assert told_apart(one, other, 5.0) == []


def test_the_same_comparison_finds_a_mechanism_of_another_epsilon():
    lax = Policy(2, 0, protection=Protection(15.0))
    one, other = counted(lax, optimal_forest, ONE), counted(lax, optimal_forest, OTHER)
    assert told_apart(one, other, 15.0) == []
    assert told_apart(one, other, 5.0) != []


@pytest.mark.parametrize(("policy", "make"), CASES[1:2])
def test_frequencies_are_the_rows(policy, make):
    prepared = prepare(policy, device_on(MAP, make))
    customised = customised_for(prepared, ONE, policy.precision_level)
    row = customised.reported.weights[customised.reported.row_cells.index(ONE)]
    expected = row / row.sum(dtype=np.float64) * DRAWS
    counts = counted(policy, make, ONE)
    assert set(counts) <= set(customised.reported.column_cells)
    observed = np.array([counts[cell] for cell in customised.reported.column_cells])
    assert chance_of(observed, expected) > CHANCE
    shifted = np.roll(expected, 1)  # the control: another order of the same numbers
    assert chance_of(observed, shifted) < CHANCE


def chance_of(observed: np.ndarray, expected: np.ndarray) -> float:
    """Return Pearson's chance of counts as far off; rare cells are put together."""
    rare = expected < 10
    groups = [*np.flatnonzero(~rare)[:, None], *([np.flatnonzero(rare)] if rare.any() else [])]
    sums = np.array([(observed[group].sum(), expected[group].sum()) for group in groups])
    statistic = ((sums[:, 0] - sums[:, 1]) ** 2 / sums[:, 1]).sum()
    return float(chi2.sf(statistic, len(sums) - 1))


def test_what_is_reported_is_the_same_kind_of_row_under_every_precision():
    # The coarsened row is the sum of the leaf's own row: nothing is drawn differently.
    fine, coarse = Policy(2, 0), Policy(2, 1)
    device = device_on(MAP, optimal_forest)
    leaves = customised_for(prepare(fine, device), ONE, 0).reported
    above = customised_for(prepare(coarse, device), ONE, 1).reported
    place = leaves.row_cells.index(ONE)
    sums = Counter()
    for cell, weight in zip(leaves.column_cells, leaves.weights[place].tolist(), strict=True):
        sums[cells.ancestor(cell, MAP.leaf_resolution - 1)] += weight
    assert sums == dict(zip(above.column_cells, above.weights[place].tolist(), strict=True))
