"""The certificate says the same as the enumeration of every pruning."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import smallest_epsilon
from geocorgi.matrix.prunable import Rows, certify, own_columns
from geocorgi.matrix.prunable_exact import epsilon_at_least
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree

SEVEN = LocationTree("88283082a9fffff", 1).leaves
SEVEN_KM = distances.between_cells(SEVEN)


def enumerated(weights, distances_km, delta, rows, columns) -> float:
    """Return the smallest epsilon after every pruning, one by one, in rational numbers."""
    exact = [[Fraction(entry) for entry in row] for row in weights.tolist()]
    size, width = weights.shape
    largest = 0.0
    for count in range(delta + 1):
        for removed in combinations(range(width), count):
            left = [k for k in range(width) if k not in removed]
            stay = [i for i in range(size) if rows == "keep" or columns[i] not in removed]
            for i in stay:
                for j in stay:
                    largest = max(largest, pair_epsilon(exact, distances_km, i, j, left))
    return largest


def pair_epsilon(exact, distances_km, i, j, left) -> float:
    totals = [sum(exact[row][k] for k in left) for row in (i, j)]
    quotients = [Fraction(1)]
    for k in left:
        if exact[i][k] and not exact[j][k]:
            return math.inf
        if exact[i][k]:
            quotients.append(exact[i][k] * totals[1] / (exact[j][k] * totals[0]))
    return epsilon_at_least(max(quotients), float(distances_km[i, j]))


@st.composite
def cases(draw, *, integers: bool):
    size = draw(st.integers(2, 7))
    width = draw(st.integers(2, size))
    delta = draw(st.integers(0, min(3, width - 1)))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    spread = draw(st.sampled_from([0.0, 1.0, 30.0]))
    weights = np.exp(-random.random((size, width)) * spread)
    if draw(st.booleans()):  # whole columns of zeros are allowed, and single zeros are hopeless
        weights[:, random.random(width) < 0.2] = 0
    if draw(st.booleans()):
        weights[random.random((size, width)) < 0.1] = 0
    if draw(st.booleans()):
        weights[-1] = 3 * weights[0]  # the same row, in other numbers
    if integers:
        weights = np.rint(weights * 2 ** draw(st.sampled_from([3, 20, 61]))).astype(np.uint64)
    table = random.random((size, size)) * draw(st.sampled_from([1.0, 1e-3]))
    table = np.round(table, 1) if draw(st.booleans()) else table  # some places at distance zero
    np.fill_diagonal(table, 0)
    own = np.full(size, -1)
    own[random.permutation(size)[:width]] = random.permutation(width)
    return weights, table, delta, own


@pytest.mark.parametrize("rows", list(Rows))
@pytest.mark.parametrize("integers", [False, True], ids=["floats", "integers"])
def test_it_agrees_with_every_pruning_enumerated(rows, integers):
    @settings(max_examples=150)
    @given(cases(integers=integers))
    def check(case):
        weights, table, delta, own = case
        if np.count_nonzero(weights, axis=1).min() <= delta:
            with pytest.raises(InvalidMatrix, match="could leave none"):
                certify(weights, table, 1.0, delta, rows, own)
            return
        expected = enumerated(weights, table, delta, rows, own)
        assert certify(weights, table, 1.0, delta, rows, own).smallest_epsilon_per_km == expected

    check()


@pytest.mark.parametrize("rows", list(Rows))
def test_it_holds_at_its_epsilon_and_fails_just_below(rows):
    weights = exponential_matrix(SEVEN, SEVEN_KM, 7.0).probabilities
    smallest = certify(weights, SEVEN_KM, 7.0, 3, rows).smallest_epsilon_per_km
    assert certify(weights, SEVEN_KM, smallest, 3, rows).holds
    assert not certify(weights, SEVEN_KM, math.nextafter(smallest, 0), 3, rows).holds


def test_the_worst_pruning_is_one():
    weights = np.exp(-5.0 * SEVEN_KM)
    found = certify(weights, SEVEN_KM, 5.0, 2, Rows.DROP)
    i, j, k, removed = found.worst
    assert len(removed) <= 2
    assert not {i, j, k} & set(removed)
    left = np.setdiff1d(np.arange(7), removed)
    after = smallest_epsilon(weights[np.ix_(left, left)], SEVEN_KM[np.ix_(left, left)])
    assert after == found.smallest_epsilon_per_km > 5.0


def test_without_pruning_it_is_the_audit_of_geo_ind():
    sealed = seal(exponential_matrix(SEVEN, SEVEN_KM, 5.0), SEVEN_KM, 5.0).matrix
    expected = smallest_epsilon(sealed.weights, SEVEN_KM)
    for rows in Rows:
        found = certify(sealed.weights, SEVEN_KM, 5.0, 0, rows)
        assert found.smallest_epsilon_per_km == expected


def test_many_columns_and_few_removed_agree_with_removing_among_all_of_them():
    random = np.random.default_rng(7)
    weights = np.exp(-random.random((6, 90)) * 5)
    table = random.random((6, 6))
    np.fill_diagonal(table, 0)
    own = np.arange(6)
    found = certify(weights, table, 1.0, 4, Rows.KEEP, own)
    shuffled = random.permutation(90)
    again = certify(weights[:, shuffled], table, 1.0, 4, Rows.KEEP, own)
    assert again.smallest_epsilon_per_km == found.smallest_epsilon_per_km
    assert {shuffled[at] for at in again.worst.removed} == set(found.worst.removed)


def test_own_columns_are_found_by_name():
    assert own_columns(("a", "b", "c"), ("c", "a")).tolist() == [1, -1, 0]


@pytest.mark.parametrize("delta", [-1, True, 1.0])
def test_a_delta_that_is_no_number_of_cells_is_refused(delta):
    with pytest.raises(InvalidMatrix, match="delta"):
        certify(np.ones((3, 3)), np.zeros((3, 3)), 1.0, delta, Rows.KEEP)


def test_what_is_no_matrix_is_refused():
    table = np.zeros((3, 3))
    for weights, columns in [
        (np.ones((3, 2)), None),
        (np.ones(3), None),
        (np.full((3, 3), np.nan), None),
        (np.ones((3, 3)), np.array([0, 1, 3])),
        (np.ones((3, 3)), np.array([0, 1])),
    ]:
        with pytest.raises(InvalidMatrix):
            certify(weights, table, 1.0, 1, Rows.KEEP, columns)
    with pytest.raises(InvalidMatrix, match="distances"):
        certify(np.ones((3, 3)), np.zeros((2, 2)), 1.0, 1, Rows.KEEP)
