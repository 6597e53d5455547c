"""Equal true guarantees: where a mechanism stands, and what it costs there."""

from __future__ import annotations

import itertools
import math

import pytest

from geocorgi.generate.exact import exact
from geocorgi.lab.beyond.adversary import ADVERSARY, DROPPED, KEPT, UNPRUNED, loss_at
from geocorgi.lab.instance import instance
from geocorgi.lab.mechanism import MECHANISMS
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.tree import distances
from tests.lab.instances import QUICK, city

BY_NAME = {mechanism.name: mechanism for mechanism in MECHANISMS}


def measured(name, epsilon=5):
    (row,) = ADVERSARY.measure(
        {"city": "synthetic", "mechanism": name, "epsilon_per_km": epsilon}, QUICK
    )
    return row


def test_the_optimum_stands_where_it_was_made_and_costs_its_loss():
    row = measured("optimal")
    problem = instance(city(), city().busiest_subtree.leaves[:7], 5.0, QUICK.seed)
    assert row["loss_km"] == pytest.approx(exact(problem).loss_km, rel=2e-3)
    assert row[UNPRUNED] == pytest.approx(5.0, rel=1e-4)
    assert row[UNPRUNED] <= 5.0


@pytest.mark.parametrize(("name", "guarantee"), [("ours, drop", DROPPED), ("ours, keep", KEPT)])
def test_robust_matrices_keep_what_they_were_made_for_after_any_pruning(name, guarantee):
    row = measured(name)
    assert row[UNPRUNED] <= row[guarantee] <= 5.0
    assert row["undesirable_reports_pruned"] < row["undesirable_reports"]


def test_the_guarantee_after_pruning_is_that_of_the_worst_pruning():
    """All sets of up to three cells of seven, pruned and audited one at a time."""
    problem = instance(city(), city().busiest_subtree.leaves[:7], 5.0, QUICK.seed)
    matrix = exact(problem).matrix
    worst = 0.0
    for size in range(4):
        for gone in itertools.combinations(problem.places, size):
            left = prune(matrix, gone, Rows.KEEP)
            table = distances.between_cells(left.row_cells)
            worst = max(worst, audit(left, table, 5.0).smallest_epsilon_per_km)
    row = measured("optimal")
    assert row[KEPT] == pytest.approx(worst, rel=2e-2)


def test_losses_are_read_off_between_points_on_the_logarithm():
    rows = [{"mechanism": "m", UNPRUNED: x, "loss_km": y} for x, y in ((2.0, 0.4), (4.0, 0.1))]
    assert loss_at(rows, "m", UNPRUNED, 3.0) == pytest.approx(0.2)
    assert loss_at(rows, "m", UNPRUNED, 5.0) is None
    rows.append({"mechanism": "m", UNPRUNED: math.inf, "loss_km": 0.1})
    assert loss_at(rows, "m", UNPRUNED, 4.0) == pytest.approx(0.1)


def test_every_mechanism_of_the_comparison_is_there():
    assert len(BY_NAME) == len(MECHANISMS) == 8
    rows = [measured(name, 15) for name in ("planar Laplace, truncated", "exponential")]
    assert all(row[UNPRUNED] <= 15.02 for row in rows)
