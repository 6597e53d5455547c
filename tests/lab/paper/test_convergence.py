"""Convergence: the losses are the program's own, the changes are between neighbours."""

from __future__ import annotations

from itertools import pairwise

import pytest

from geocorgi.generate.paper import Solver, paper
from geocorgi.lab.experiment import where
from geocorgi.lab.instance import instance
from geocorgi.lab.paper.convergence import CONVERGENCE, EPSILON_PER_KM, OURS, PAPER
from tests.lab.instances import QUICK, city

ROWS = CONVERGENCE.measure({"delta": 2, "run": 0}, QUICK)


def test_the_first_matrix_is_the_non_robust_program_as_highs_solves_it():
    problem = instance(city(), city().first_subtree.leaves[:7], EPSILON_PER_KM, QUICK.seed)
    (first,) = where(ROWS, method=PAPER, iteration=0)
    assert first["loss_km"] == pytest.approx(paper(problem, solver=Solver.HIGHS).loss_km, rel=1e-5)
    assert first["change_km"] == 0


def test_every_change_is_the_difference_of_two_losses():
    rows = where(ROWS, method=PAPER)
    assert [row["iteration"] for row in rows] == list(range(11))
    for before, after in pairwise(rows):
        change = abs(after["loss_km"] - before["loss_km"])
        assert after["change_km"] == pytest.approx(change)
        assert after["relative_change"] == pytest.approx(change / after["loss_km"])


def test_ours_is_one_line_of_one_certified_matrix():
    (ours,) = where(ROWS, method=OURS)
    assert 0 < ours["loss_km"] < 1


def settled(change):
    rows = [{"method": PAPER, "delta": delta, "run": 0, "iteration": at, "loss_km": 1.0,
             "relative_change": change if at == 4 else 0.0}
            for delta in (2, 4) for at in range(11)]  # fmt: skip
    return CONVERGENCE.claims(rows)[0].verdict


def test_the_verdict_is_about_the_fourth_iteration():
    assert settled(0.005) == "reproduced"
    assert settled(0.5) == "not reproduced"
