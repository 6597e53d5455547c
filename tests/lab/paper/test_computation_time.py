"""Constraints are counted as one can count them by hand; verdicts follow from the numbers."""

from __future__ import annotations

import pytest

from geocorgi.lab.paper.computation_time import COMPUTATION_TIME
from geocorgi.lab.paper.whole_program import seconds_of_algorithm_1, with_graph, without_graph
from tests.lab.instances import QUICK, seven


def test_seven_leaves_have_the_constraints_that_a_drawing_shows():
    """A middle with six neighbours; each of the ring has three neighbours and two diagonals."""
    problem = seven()
    assert without_graph(problem).constraints == 7 * 6 * 7
    assert with_graph(problem).constraints == (6 + 6 * 5) * 7
    (row,) = COMPUTATION_TIME.measure({"part": "constraints", "places": 7}, QUICK)
    assert (row["without_graph"], row["graph"], row["ours_equations"]) == (294, 252, 7)


def test_seconds_of_algorithm_1_are_those_of_its_programs():
    problem = seven()
    assert 0 < seconds_of_algorithm_1(problem, with_graph(problem), 1, 1) < 60


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [(0.0766, "reproduced"), (0.5, "reproduced in direction"), (1.5, "not reproduced")],
)
def test_the_verdict_on_time_is_about_the_share_saved(seconds, verdict):
    rows = [
        {"part": "time", "delta": 1, "without_graph_seconds": 1.0, "graph_seconds": seconds,
         "ours_seconds": 0.1},
        {"part": "constraints", "places": 7, "without_graph": 294, "graph": 252,
         "ours_equations": 7, "ours_seconds": 0.1},
    ]  # fmt: skip
    time, constraints = COMPUTATION_TIME.claims(rows)
    assert time.verdict == verdict
    assert f"{1 - seconds:.2%}" in time.papers_method
    assert "10.0 times" in time.ours
    assert f"{1 - 252 / 294:.2%}" in constraints.papers_method
