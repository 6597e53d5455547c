"""Counting violations after pruning: against pruning and auditing, one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.generate.exact import exact
from geocorgi.generate.robust import robust
from geocorgi.lab.paper.pruning_locations import Rates, violated_shares
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.tree import distances
from tests.lab.instances import seven

EPSILON = 5.0
PRUNINGS = [[0], [3], [0, 1], [2, 6], [1, 2, 5]]


def test_the_count_is_the_auditors():
    problem = seven(EPSILON)
    matrix = exact(problem).matrix
    rates = Rates(EPSILON * problem.distances_km, ~np.eye(7, dtype=np.bool_))
    expected = {}
    for removed in PRUNINGS:
        left = prune(matrix, [problem.places[at] for at in removed], Rows.DROP)
        verdict = audit(left, distances.between_cells(left.row_cells), EPSILON)
        comparisons = len(left.row_cells) ** 2 * (len(left.row_cells) - 1)
        expected.setdefault(len(removed), []).append(verdict.violations / comparisons)
    assert any(share > 0 for some in expected.values() for share in some)
    found = violated_shares(matrix.weights, rates, PRUNINGS)
    assert found == {size: pytest.approx(np.mean(some)) for size, some in expected.items()}


def test_a_certified_matrix_has_none_within_delta():
    problem = seven(EPSILON)
    weights = robust(problem, 2, Rows.DROP).sealed.weights
    rates = Rates(EPSILON * problem.distances_km, ~np.eye(7, dtype=np.bool_))
    pairs = [[i, j] for i in range(7) for j in range(i)]
    assert violated_shares(weights, rates, [[i] for i in range(7)] + pairs) == {1: 0.0, 2: 0.0}
