"""The graph against true distances by another algorithm, Eq. 14 against every set written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from geocorgi.generate.exact import exact
from geocorgi.lab.experiment import where
from geocorgi.lab.instance import instance
from geocorgi.lab.paper import foundations
from geocorgi.lab.paper.foundations import FOUNDATIONS, LENGTHS, SMALLEST, TRUE
from geocorgi.tree import distances
from geocorgi.tree.hex_graph import hex_graph
from tests.lab.instances import QUICK, city

LEAVES = city().first_subtree.leaves


@pytest.mark.parametrize("name", LENGTHS)
def test_the_graphs_distances_are_those_of_dijkstra(name):
    table = distances.between_cells(LEAVES)
    spacing = foundations._spacing(name, LEAVES, table)
    lengths = np.where(hex_graph(LEAVES), table if spacing is None else spacing, 0.0)
    found = foundations._edge_lengths(name, LEAVES, table)
    assert found == pytest.approx(dijkstra(lengths), rel=1e-12)


def test_the_smallest_spacing_is_longer_nowhere_and_the_true_ones_often():
    rows = {name: FOUNDATIONS.measure({"part": "graph", "edges": name}, QUICK)[0]
            for name in (SMALLEST, TRUE)}  # fmt: skip
    assert rows[SMALLEST]["pairs_longer_than_true"] == 0
    assert rows[SMALLEST]["violated"] == 0
    assert rows[TRUE]["pairs_longer_than_true"] > rows[TRUE]["pairs"] / 2
    assert rows[SMALLEST]["pairs"] == 49 * 48
    assert rows[SMALLEST]["most_neighbours"] == 12


@pytest.mark.parametrize("delta", [1, 2])
def test_equation_14_is_counted_against_every_set(delta):
    (row,) = FOUNDATIONS.measure({"part": "reserve", "delta": delta}, QUICK)
    problem = instance(city(), LEAVES[:7], foundations.EPSILON_PER_KM, QUICK.seed)
    shares = exact(problem).matrix.probabilities
    expected = {"row_i_too_small": 0, "row_j_too_small": 0, "row_i_over_budget": 0,
                "row_j_over_budget": 0}  # fmt: skip
    for i, j in itertools.permutations(range(7), 2):
        others = [cell for cell in range(7) if cell not in (i, j)]
        sets = [s for size in range(delta + 1) for s in itertools.combinations(others, size)]
        left = [[1 - sum(shares[row, cell] for cell in s) for s in sets] for row in (i, j)]
        truth = max(math.log(b / a) for a, b in zip(*left, strict=True))
        exponent = foundations.EPSILON_PER_KM * problem.distances_km[i, j]
        for name, row_used in (("row_i", i), ("row_j", j)):
            top = sum(sorted(shares[row_used])[-delta:])
            reserve = math.log((1 - top * math.exp(-exponent)) / (1 - top)) if top < 1 else math.inf
            expected[f"{name}_too_small"] += reserve < truth - foundations.DUST
            expected[f"{name}_over_budget"] += reserve > exponent
    assert {name: row[name] for name in expected} == expected
    assert row["sets"] == math.comb(7, delta)


def test_the_sample_is_counted_leaf_by_leaf():
    rows = FOUNDATIONS.measure({"part": "sample", "city": "synthetic"}, QUICK)
    counts = sorted((city().priors.weights + city().held_out.weights).tolist(), reverse=True)
    for row in rows:
        expected = sum(counts[: row["rank"]]) / sum(counts)
        assert row["share_of_check_ins"] == pytest.approx(expected, abs=1e-4)
    assert where(rows, rank=343)[0]["share_of_check_ins"] == 1.0
    assert rows[0]["leaves_with_any"] == sum(count > 0 for count in counts)
