"""Algorithm 1 as printed: its quantities, its cap, and what it truly comes to."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.errors import GenerationFailed, InvalidInput
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.paper import paper
from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells, problem_on_points
from geocorgi.generate.reserved_budget import ApproximationRow, approximate_budget
from geocorgi.generate.robust import robust
from geocorgi.generate.robust_paper import PaperSettings, robust_paper
from geocorgi.matrix.prunable import Rows, certify
from geocorgi.tree.hex_graph import hex_graph
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors

SEVEN = LocationTree("88283082a9fffff", 1).leaves
FORTY_NINE = LocationTree("872830828ffffff", 2).leaves
FINELY = Limits(gap=1e-6)


def seven(epsilon: float, weights: np.ndarray | None = None) -> ObfuscationProblem:
    return problem_on_cells(SEVEN, epsilon, None if weights is None else Priors(SEVEN, weights))


def test_it_starts_at_the_papers_optimum_and_tells_every_round():
    told = []
    problem = problem_on_cells(FORTY_NINE, 5.0)
    found = robust_paper(problem, 2, settings=PaperSettings(3), on_progress=told.append)
    assert tuple(told) == found.iterations
    assert len(found.iterations) == 4
    assert found.iterations[0].loss_km == pytest.approx(paper(problem).loss_km, rel=1e-4)
    assert found.loss_km == found.iterations[-1].loss_km
    assert all(0 <= iteration.change <= 1 for iteration in found.iterations)


@pytest.mark.parametrize(("delta", "loss_km"), [(1, 0.2537), (2, 0.2692)])
def test_it_settles_at_known_losses_where_few_cells_leave(delta, loss_km):
    problem = problem_on_cells(FORTY_NINE, 5.0)
    found = robust_paper(problem, delta, settings=PaperSettings(9, spares_own=True))
    assert found.loss_km == pytest.approx(loss_km, rel=1e-3)
    assert found.certificate.holds
    assert found.iterations[-1].change < 0.05


@pytest.mark.slow
def test_it_does_not_converge_in_general():
    problem = problem_on_cells(FORTY_NINE, 5.0)
    found = robust_paper(problem, 5, settings=PaperSettings(10, spares_own=True))
    losses = [iteration.loss_km for iteration in found.iterations[4:]]
    assert max(losses) > 1.05 * min(losses)
    assert min(iteration.change for iteration in found.iterations[4:]) > 0.05


def test_the_program_of_a_round_is_the_papers_with_the_reserve_taken_off_each_edge():
    # One round by hand: Eq. 14 on the first matrix, and Eq. 16 over the neighbours.
    problem = seven(8.0, np.arange(1.0, 8.0))
    first = robust_paper(problem, 1, settings=PaperSettings(1), limits=FINELY)
    start = paper(problem, limits=FINELY).matrix.probabilities
    apart = problem.distances_km[problem.distances_km > 0].min()
    exponents = np.full((7, 7), 8.0 * apart)
    np.fill_diagonal(exponents, 0.0)
    left = exponents - np.minimum(approximate_budget(start, exponents, 1), exponents)
    ratios = np.log(first.matrix.probabilities[:, None] / first.matrix.probabilities)
    edges = hex_graph(problem.places)
    assert (ratios.max(axis=2)[edges] <= left[edges] + 1e-4).all()
    assert (ratios.max(axis=2)[edges] >= left[edges] - 1e-4).any()


@pytest.mark.parametrize("rows", list(Rows))
@pytest.mark.parametrize("delta", [0, 2])
def test_the_truth_is_the_certificates(delta, rows):
    problem = seven(6.0, np.arange(1.0, 8.0))
    found = robust_paper(problem, delta, rows, PaperSettings(4))
    judged = certify(found.matrix.weights, problem.distances_km, 6.0, delta, rows)
    assert found.certificate == judged
    assert (found.delta, found.certificate.rows) == (delta, rows)


def test_row_j_as_printed_leaves_a_matrix_that_is_not_prunable():
    # The proof of Prop. 4.4 is about row i. With the row that is printed the promise is broken.
    problem = problem_on_cells(FORTY_NINE, 5.0)
    holds = {
        row: robust_paper(problem, 1, settings=PaperSettings(6, row)).certificate.holds
        for row in ApproximationRow
    }
    assert holds == {ApproximationRow.PROOF: True, ApproximationRow.PRINTED: False}


def test_the_cap_hides_that_there_is_no_answer():
    problem = problem_on_cells(FORTY_NINE, 5.0)
    found = robust_paper(problem, 7, settings=PaperSettings(4))
    assert found.capped_edges > 0
    assert found.loss_km > robust(problem, 7, Rows.DROP, Limits(1e-3)).loss_km * 2
    with pytest.raises(GenerationFailed, match="no answer"):
        robust_paper(problem, 7, settings=PaperSettings(4, capped=False))


def test_an_edge_longer_than_the_smallest_spacing_breaks_the_promise():
    found = robust_paper(
        problem_on_cells(FORTY_NINE, 15.0), 0, settings=PaperSettings(1, spacing_km=0.37)
    )
    assert not found.certificate.holds


def test_points_have_no_graph():
    problem = problem_on_points(["a", "b"], np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0, np.ones(2))
    with pytest.raises(InvalidInput, match="H3 cells"):
        robust_paper(problem, 0)


def test_cells_that_do_not_touch_have_no_graph():
    problem = problem_on_cells((FORTY_NINE[0], LocationTree("87283082affffff", 2).leaves[0]), 1.0)
    with pytest.raises(InvalidInput, match="not all joined"):
        robust_paper(problem, 0)
