"""The paper's graph over the leaves: where Lemma 4.1 and Theorem 4.1 hold, and where they fail.

Lemma 4.1: the graph's distance ``d_G`` (edges of a shortest path, each of length a) is at most the
true one. Theorem 4.1: what holds between neighbours holds between all, over ``d_G``.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.generate.optimum.cone import metric_closure
from geocorgi.tree import distances
from geocorgi.tree.hex_graph import hex_graph, hops
from geocorgi.tree.location_tree import LocationTree

SAN_FRANCISCO = "862830827ffffff"
AUTHORS_SPACING_KM = 0.37
NEAR = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]
DIAGONAL = [(1, 1), (-1, 2), (-2, 1), (-1, -1), (1, -2), (2, -1)]


def lattice(radius: int) -> tuple[np.ndarray, np.ndarray]:
    """A perfect hexagonal lattice of spacing one: true distances, and hops over twelve edges."""
    around = range(-radius, radius + 1)
    axial = [(q, r) for q in around for r in around if abs(q + r) <= radius]
    position = {cell: at for at, cell in enumerate(axial)}
    points = np.array([(q + r / 2, r * np.sqrt(3) / 2) for q, r in axial])
    joined = np.zeros((len(axial), len(axial)), dtype=np.bool_)
    for (q, r), at in position.items():
        for dq, dr in NEAR + DIAGONAL:
            if (q + dq, r + dr) in position:
                joined[at, position[q + dq, r + dr]] = True
    return np.linalg.norm(points[:, None] - points, axis=2), hops(joined)


def subtree(root: str, height: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True distances, the graph, and its hops."""
    leaves = LocationTree(root, height).leaves
    joined = hex_graph(leaves)
    return distances.between_cells(leaves), joined, hops(joined)


def spacings(table: np.ndarray) -> np.ndarray:
    """From every leaf to its nearest."""
    return np.where(table > 0, table, np.inf).min(axis=1)


def broken_pairs(graph_km: np.ndarray, true_km: np.ndarray) -> int:
    """How many ordered pairs are farther in the graph than they are, by more than rounding."""
    return int((graph_km > true_km * (1 + 1e-12)).sum())


@pytest.mark.parametrize("radius", [1, 3, 8])
def test_the_lemma_holds_on_a_perfect_lattice(radius):
    true, steps = lattice(radius)
    assert np.isfinite(steps).all()
    assert broken_pairs(steps, true) == 0


def test_the_lemma_is_tight_on_a_perfect_lattice_only_along_its_three_axes():
    true, steps = lattice(6)
    tight = (np.abs(true - steps) < 1e-9) & (steps > 0)
    assert tight.any()
    assert (steps[~tight & (steps > 0)] < true[~tight & (steps > 0)]).all()
    assert not tight[np.abs(true - np.sqrt(3)) < 1e-9].any()


@pytest.mark.parametrize(
    ("root", "height"),
    [
        ("88283082a9fffff", 1),
        ("872830828ffffff", 2),
        ("872a1072cffffff", 2),
        ("871fb4670ffffff", 2),
        (SAN_FRANCISCO, 3),
    ],
)
def test_the_lemma_holds_on_real_cells_with_the_smallest_spacing(root, height):
    true, _, steps = subtree(root, height)
    assert broken_pairs(spacings(true).min() * steps, true) == 0


def test_the_lemma_fails_with_any_larger_length():
    true, joined, steps = subtree(SAN_FRANCISCO, 3)
    assert true.size - len(true) == 117_306
    smallest = spacings(true).min()
    assert broken_pairs(1.0001 * smallest * steps, true) > 0
    touching = joined & (true < 1.3 * spacings(true)[:, None])
    assert broken_pairs(true[touching].mean() * steps, true) == 2_420
    assert broken_pairs(AUTHORS_SPACING_KM * steps, true) == 3_630


def test_the_lemma_fails_for_most_pairs_with_true_edge_lengths():
    true, joined, _ = subtree(SAN_FRANCISCO, 3)
    lengths = metric_closure(np.where(joined, true, np.where(np.eye(len(true)), 0, np.inf)))
    share = broken_pairs(lengths, true) / 117_306
    assert 0.75 < share < 0.85


def test_the_authors_length_is_longer_than_every_true_spacing():
    true, joined, _ = subtree(SAN_FRANCISCO, 3)
    touching = joined & (true < 1.3 * spacings(true)[:, None])
    assert true[touching].max() < AUTHORS_SPACING_KM


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.floats(0.1, 4.0))
def test_what_holds_between_neighbours_holds_between_all_over_the_graph(seed, rate):
    joined, steps = SMALL
    member = random_member(seed, joined, rate)
    edges = np.nonzero(joined)
    assert (member[edges[0]] <= np.exp(rate) * member[edges[1]] * (1 + 1e-12)).all()
    assert (member[:, None] <= np.exp(rate * steps) * member * (1 + 1e-10)).all()


def random_member(seed: int, joined: np.ndarray, rate: float) -> np.ndarray:
    """Raise random numbers until no neighbour is more than ``exp(rate)`` times another."""
    member = np.random.default_rng(seed).lognormal(0, 6, len(joined))
    for _ in range(len(joined)):
        reached = np.where(joined, np.exp(-rate) * member, 0).max(axis=1)
        member = np.maximum(member, reached)
    return member


SMALL = subtree("872830828ffffff", 2)[1:]


def test_over_true_distances_it_does_not_hold_where_the_lemma_fails():
    true, joined, steps = subtree("872830828ffffff", 2)
    epsilon = 5.0
    for spacing, breaks in ((spacings(true).min(), False), (AUTHORS_SPACING_KM, True)):
        column = np.exp(-epsilon * spacing * steps[0])  # a ray of the graph's cone
        edges = np.nonzero(joined)
        allowed = np.exp(epsilon * spacing) * (1 + 1e-12)
        assert (column[edges[0]] <= allowed * column[edges[1]]).all()
        broken = column[:, None] > np.exp(epsilon * true) * column * (1 + 1e-12)
        assert bool(broken.any()) is breaks


def test_pruned_rows_take_the_chain_away():
    # A cell in the middle leaves with all its twelve neighbours. Paths between survivors then go
    # round the hole: chained constraints promise less than the whole graph's distances.
    _, joined, steps = subtree("872830828ffffff", 2)
    middle = int(steps.max(axis=1).argmin())
    removed = joined[middle] | (np.arange(len(steps)) == middle)
    left = ~removed
    after = hops(joined[np.ix_(left, left)])
    before = steps[np.ix_(left, left)]
    assert (after >= before).all()
    assert (after > before).any()
    # A column that every surviving edge allows and that the distance over the whole graph forbids.
    one, other = np.argwhere(after > before)[0]
    column = np.exp(-after[one])
    assert column[one] > np.exp(before[one, other]) * column[other] * (1 + 1e-12)
