"""Losses of experiments 3, 5 and 6, against sums written out over places, reports and targets."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.generate.exact import exact
from geocorgi.lab.coarse_loss import averaged_loss_km, coarsened_loss_km
from geocorgi.lab.experiment import where
from geocorgi.lab.instance import instance, random_targets, whole_groups
from geocorgi.lab.paper import privacy_parameters
from geocorgi.lab.paper.precision_reduction import PRECISION_REDUCTION
from geocorgi.lab.paper.privacy_level import PRIVACY_LEVEL, ratios
from geocorgi.lab.paper.privacy_parameters import PRIVACY_PARAMETERS
from geocorgi.tree import cells, distances
from geocorgi.tree.priors import restricted
from tests.lab.instances import QUICK, city

TARGETS = random_targets(city(), 1)


def km(one, other):
    return float(distances.haversine_km(*cells.centre(one), *cells.centre(other)))


def detour(real, reported):
    return np.mean([abs(km(real, t) - km(reported, t)) for t in TARGETS.cells])


@pytest.fixture(scope="module")
def fourteen():
    leaves = whole_groups(city(), 14)
    problem = instance(city(), leaves, 5.0, 1)
    return problem, exact(problem).matrix


def test_losses_by_priors_and_by_held_out_check_ins_are_the_sums(fourteen):
    problem, matrix = fourteen
    found = privacy_parameters._losses(city(), problem, matrix.weights)
    detours = [
        sum(p * detour(real, seen) for p, seen in zip(row, problem.places, strict=True))
        for real, row in zip(problem.places, matrix.probabilities, strict=True)
    ]
    for name, weights in (("loss_km", city().priors), ("held_out_loss_km", city().held_out)):
        shares = restricted(weights, problem.places).probabilities
        assert found[name] == pytest.approx(float(shares @ detours), rel=1e-9)


def test_coarse_reports_cost_what_their_centres_cost(fourteen):
    problem, matrix = fourteen
    priors = restricted(city().priors, problem.places).probabilities
    parents = [city().tree.ancestor(leaf, 1) for leaf in problem.places]
    drawn = averaged = 0.0
    for at, real in enumerate(problem.places):
        mine = [k for k, parent in enumerate(parents) if parent == parents[at]]
        for column, seen in enumerate(parents):
            mean = sum(priors[k] * matrix.probabilities[k, column] for k in mine)
            cost = priors[at] * detour(real, seen)
            drawn += cost * matrix.probabilities[at, column]
            averaged += cost * mean / sum(priors[k] for k in mine)
    assert coarsened_loss_km(city(), problem, matrix, 1, TARGETS) == pytest.approx(drawn)
    assert averaged_loss_km(city(), problem, matrix, 1, TARGETS) == pytest.approx(averaged)


def test_verdicts_follow_from_the_steps():
    rows = [
        {"epsilon_per_km": e, "delta": d, "method": m, "draw": 0, "loss_km": 1.0,
         "certified_epsilon_per_km": 9.0, "held_out_loss_km": 1.0 / e + d}
        for e, d in ((15, 3), (16, 3), (17, 3), (15, 1), (15, 2))
        for m in privacy_parameters.METHODS
    ]  # fmt: skip
    assert [claim.verdict for claim in PRIVACY_PARAMETERS.claims(rows)] == ["reproduced"] * 3
    for row in where(rows, epsilon_per_km=16, method=privacy_parameters.PAPERS):
        row["held_out_loss_km"] = 99.0
    for row in where(rows, method=privacy_parameters.PAPERS):
        row["loss_km"] = 1.2
    falling, rising, minimal = PRIVACY_PARAMETERS.claims(rows)
    assert (falling.verdict, rising.verdict) == ("in part", "reproduced")
    assert falling.papers_method == "falls in 1 of 2 steps"
    assert minimal.verdict == "not reproduced"
    assert minimal.papers_method.startswith("1.20 times")


def test_the_wide_choice_is_compared_with_the_narrow_one_case_by_case():
    rows = [
        {"level": level, "epsilon_per_km": e, "delta": 0, "method": method,
         "coarsened_loss_km": level * 1.0, "averaged_loss_km": level * 2.0 / e}
        for e in (15, 16) for level in (3, 2) for method in ("the paper's", "ours")
    ]  # fmt: skip
    rows += [
        row | {"delta": 1} | {name: 1.1 * row[name] for name in row if name.endswith("km")
                              and "loss" in name}
        for row in rows[:4]
    ]  # fmt: skip
    assert ratios(rows, "ours") == pytest.approx([1.5] * 3)
    higher, by_epsilon, by_delta = PRIVACY_LEVEL.claims(rows)
    assert higher.verdict == "reproduced"
    assert by_epsilon.verdict == "reproduced"
    assert by_delta.papers_method == "in 2 of 2 steps"


def test_reduction_is_timed_against_ten_iterations_reckoned_from_those_that_ran():
    row = {"places": 14, "delta": 2, "average_seconds": 1.0, "algorithm_1_seconds": 400.0,
           "coarsen_seconds": 0.5, "ours_seconds": 50.0, "coarse_seconds": 0.1,
           "averaged_centre_epsilon_per_km": 14.0, "averaged_centre_epsilon_at_low_per_km": 3.4,
           "coarsened_epsilon_per_km": 14.9,
           "averaged_epsilon_per_km": 18.0, "averaged_loss_km": 0.1,
           "coarsened_loss_km": 0.1}  # fmt: skip
    time, proposition = PRECISION_REDUCTION.claims([row])
    assert f"{1 / (400 * 11 / 2):.6%}" in time.papers_method  # two programs ran of eleven
    assert "1.000000%" in time.ours
    assert time.verdict == "reproduced in direction"
    assert proposition.verdict == "not reproduced"


def test_the_quick_run_knows_its_levels():
    assert {case["level"] for case in PRIVACY_LEVEL.cases(QUICK)} == {2, 3}
