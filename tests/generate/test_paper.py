"""The paper's program: by our engine and by HiGHS, with the graph and without."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.errors import InvalidInput, SolverFailed
from geocorgi.generate.exact import exact
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.optimum.solver import LARGEST_RATE
from geocorgi.generate.paper import Solver, paper, paper_full
from geocorgi.generate.problem import problem_on_cells, problem_on_points
from geocorgi.matrix.sealing import seal
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors

SEVEN = LocationTree("88283082a9fffff", 1).leaves
FORTY_NINE = LocationTree("872830828ffffff", 2).leaves
SKEWED = Priors(SEVEN, np.array([1000.0, 0, 30, 0, 1, 0.001, 0]))


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 10.0, 30.0])
@pytest.mark.parametrize("priors", [None, SKEWED], ids=["uniform", "skewed"])
def test_the_engine_and_highs_agree_on_the_graphs_program(epsilon, priors):
    problem = problem_on_cells(SEVEN, epsilon, priors)
    ours = paper(problem, limits=Limits(gap=1e-7))
    theirs = paper(problem, solver=Solver.HIGHS)
    assert ours.loss_km == pytest.approx(theirs.loss_km, rel=2e-6, abs=1e-9)
    assert ours.evidence.lower_bound_km <= theirs.loss_km * (1 + 1e-6) + 1e-9
    assert ours.audit.holds


@pytest.mark.parametrize(
    ("epsilon", "loss"),
    [(2, 0.41863949), (5, 0.24089649), (10, 0.06726477), (15, 0.01357095), (20, 0.00244617)],
)
def test_the_graph_costs_what_is_written_about_it(epsilon, loss):
    problem = problem_on_cells(FORTY_NINE, float(epsilon))
    found = paper(problem, limits=Limits(gap=1e-6))
    assert found.loss_km == pytest.approx(loss, rel=3e-6)
    assert found.audit.holds
    seal(found.matrix, problem.distances_km, float(epsilon))
    assert exact(problem).loss_km < found.loss_km / 1.2


@pytest.mark.parametrize("epsilon", [10.0, 15.0])
def test_highs_agrees_on_forty_nine_cells(epsilon):
    problem = problem_on_cells(FORTY_NINE, epsilon)
    ours = paper(problem, limits=Limits(gap=1e-7))
    assert paper(problem, solver=Solver.HIGHS).loss_km == pytest.approx(ours.loss_km, rel=3e-6)


@pytest.mark.parametrize("priors", [None, SKEWED], ids=["uniform", "skewed"])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 10.0, 30.0])
def test_without_the_graph_the_program_is_the_exact_one(epsilon, priors):
    problem = problem_on_cells(SEVEN, epsilon, priors)
    found = exact(problem, Limits(gap=1e-7))
    assert paper_full(problem).loss_km == pytest.approx(found.loss_km, rel=2e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [5.0, 15.0, 20.0])
def test_without_the_graph_forty_nine_cells_are_solved_too(epsilon):
    # At 15 a coefficient of e^39 once stopped HiGHS before it began: "Not Set".
    problem = problem_on_cells(FORTY_NINE, epsilon)
    found = exact(problem, Limits(gap=1e-7))
    assert paper_full(problem).loss_km == pytest.approx(found.loss_km, rel=3e-6)


def test_what_highs_cannot_hold_is_refused_before_it_starts():
    problem = problem_on_cells(FORTY_NINE, 30.0)
    assert (30.0 * problem.distances_km).max() > LARGEST_RATE
    with pytest.raises(SolverFailed, match=r"coefficients from 1 to e\^78\.1.*up to e\^55\.3"):
        paper_full(problem)


def test_a_length_beyond_the_smallest_spacing_is_possible_and_the_audit_says_so():
    problem = problem_on_cells(FORTY_NINE, 5.0)
    assert not paper(problem, spacing_km=0.37).audit.holds
    assert paper(problem, spacing_km=0.37).loss_km < paper(problem).loss_km


@pytest.mark.parametrize("length", [0.0, -1.0, np.inf, np.nan])
def test_a_length_is_a_positive_number(length):
    with pytest.raises(InvalidInput, match="edge length"):
        paper(problem_on_cells(SEVEN, 1.0), spacing_km=length)


def test_points_have_no_graph():
    problem = problem_on_points(["a", "b"], 1.0 - np.eye(2), 1.0, np.ones(2))
    with pytest.raises(InvalidInput, match="exact"):
        paper(problem)
    assert paper_full(problem).loss_km == pytest.approx(exact(problem).loss_km, rel=1e-4)


def test_cells_that_no_neighbours_join_are_refused():
    with pytest.raises(InvalidInput, match="not all joined"):
        paper(problem_on_cells((*SEVEN, "892a1072cc3ffff"), 1.0))


@pytest.mark.parametrize("solver", list(Solver))
def test_one_cell_alone_costs_nothing(solver):
    # The mean cost is zero there, and once stood under a fraction.
    problem = problem_on_cells(SEVEN[:1], 3.0)
    assert paper(problem, solver=solver).loss_km == 0
    assert paper_full(problem).loss_km == 0
