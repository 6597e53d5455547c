"""The auditor against an oracle, and against its own promise: holds here, fails just below."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.errors import InvalidEpsilon, InvalidMatrix
from geocorgi.matrix import geo_ind, row_blocks
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit, smallest_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from tests.matrix.oracle import slow_audit

SEVEN = LocationTree("88283082a9fffff", 1).leaves
SEVEN_KM = distances.between_cells(SEVEN)
NAMES = tuple("abcd")

# Few distinct numbers, so that zeros, equal entries and equal rows are common.
entry = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(1e-12, 1.0))
tables = st.lists(
    st.lists(entry, min_size=4, max_size=4).filter(any), min_size=4, max_size=4
).map(lambda rows: np.array(rows) / np.array(rows).sum(axis=1, keepdims=True))  # fmt: skip
integer_tables = st.lists(
    st.lists(st.integers(0, 2**62), min_size=4, max_size=4).filter(any), min_size=4, max_size=4
)  # fmt: skip
kilometres = st.lists(
    st.lists(st.sampled_from([0.0, 0.3, 0.35, 1.0, 2.5]), min_size=4, max_size=4),
    min_size=4, max_size=4,
).map(lambda rows: np.array(rows) * (1 - np.eye(4)))  # fmt: skip
epsilons = st.sampled_from([0.1, 1.0, 5.0, 20.0])


def named(table: np.ndarray) -> ObfuscationMatrix:
    names = tuple(f"cell {n}" for n in range(len(table)))
    return ObfuscationMatrix(names, names, 0, table)


@settings(max_examples=300, deadline=None)
@given(tables, kilometres, epsilons)
def test_the_auditor_agrees_with_the_definition(table, distance, epsilon):
    fast = audit(named(table), distance, epsilon)
    slow = slow_audit(table, distance, epsilon)
    assert fast.violations == slow.violations
    assert fast.holds == (slow.violations == 0)
    assert fast.infinite_ratios == slow.infinite
    if math.isinf(fast.smallest_epsilon_per_km):
        assert slow.smallest == Decimal("Infinity")
    else:
        assert Decimal(fast.smallest_epsilon_per_km) >= slow.smallest
        assert slow.smallest >= Decimal(math.nextafter(fast.smallest_epsilon_per_km, -1))


@settings(max_examples=150, deadline=None)
@given(integer_tables, kilometres, epsilons)
def test_integer_weights_are_judged_as_integers(rows, distance, epsilon):
    weights = np.array(rows, dtype=np.uint64)
    sealed = SealedMatrix(NAMES, NAMES, 0, weights)
    assert (
        audit(sealed, distance, epsilon).violations
        == slow_audit(weights, distance, epsilon).violations
    )


@settings(deadline=None)
@given(tables, kilometres)
def test_it_holds_at_the_smallest_epsilon_and_fails_at_the_next_double_below(table, distance):
    smallest = smallest_epsilon(table, distance)
    if not 0 < smallest < math.inf:
        return
    assert audit(named(table), distance, smallest).holds
    below = audit(named(table), distance, math.nextafter(smallest, 0))
    assert not below.holds
    assert below.violations >= 1


def tight_matrix(epsilon: float) -> ObfuscationMatrix:
    """The closed form: every entry of every column is as far from the diagonal's as allowed."""
    rays = np.exp(-epsilon * SEVEN_KM)
    return ObfuscationMatrix(SEVEN, SEVEN, 0, rays * np.linalg.solve(rays, np.ones(7)))


def test_a_matrix_tight_to_the_last_bit_is_counted_exactly():
    matrix = tight_matrix(10.0)
    verdict = audit(matrix, SEVEN_KM, 10.0)
    assert verdict.violations == slow_audit(matrix.probabilities, SEVEN_KM, 10.0).violations
    assert abs(verdict.smallest_epsilon_per_km - 10.0) < 1e-12


def test_one_unit_in_the_last_place_decides():
    # ln 2 lies between these two doubles; at one kilometre they are neighbouring epsilons.
    above, below = 0.6931471805599454, 0.6931471805599453
    assert math.nextafter(below, 1) == above
    table = named(np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]]))
    apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert audit(table, apart, above).holds
    assert not audit(table, apart, below).holds


def test_dust_beside_zeros_is_infinitely_bad():
    table = np.array([[1.0, 0.0], [1 - 1e-12, 1e-12]])
    verdict = audit(named(table), np.array([[0.0, 1.0], [1.0, 0.0]]), 20.0)
    assert verdict.smallest_epsilon_per_km == math.inf
    assert verdict.infinite_ratios == 1
    assert verdict.worst == geo_ind.WorstTriple("cell 1", "cell 0", "cell 1")


def test_the_identity_gives_everything_away():
    verdict = audit(ObfuscationMatrix(SEVEN, SEVEN, 0, np.eye(7)), SEVEN_KM, 5.0)
    assert (verdict.violations, verdict.infinite_ratios, verdict.comparisons) == (42, 42, 294)


def test_equal_rows_need_no_budget_at_all():
    verdict = audit(named(np.full((3, 3), 1 / 3)), np.ones((3, 3)) - np.eye(3), 1e-6)
    assert verdict.smallest_epsilon_per_km == 0
    assert verdict.worst is None
    assert verdict.holds


def test_places_at_distance_zero_must_be_reported_alike():
    here = np.zeros((2, 2))
    alike = named(np.array([[0.25, 0.75], [0.25, 0.75]]))
    assert audit(alike, here, 1.0).holds
    unlike = named(np.array([[0.25, 0.75], [np.nextafter(0.25, 1), 0.75]]))
    assert audit(unlike, here, 1e6).smallest_epsilon_per_km == math.inf


@pytest.mark.parametrize("apart", [5e-324, 1e-310, 1e-200, 1e200, 1.7e308])
def test_distances_at_the_ends_of_the_doubles_are_judged_too(apart):
    # A quotient that overflowed once found nothing to compare, and everything private.
    table = np.array([[0.7, 0.3], [0.3, 0.7]])
    verdict = audit(named(table), np.array([[0.0, apart], [apart, 0.0]]), 1.0)
    assert verdict.holds == (apart > 1)
    assert verdict.violations == (0 if apart > 1 else 2)
    needed = Decimal(7 / 3).ln() / Decimal(apart)
    if needed > Decimal("1.7e308"):
        assert verdict.smallest_epsilon_per_km == math.inf
    else:
        assert verdict.smallest_epsilon_per_km == pytest.approx(float(needed), rel=1e-14)


def test_places_beyond_the_stars_beside_places_next_door_are_judged_quietly():
    # What the nearest pair allows, scaled to the farthest, overflowed and said so aloud.
    far = np.array([[0, 1e-300, 1e300], [1e-300, 0, 1e300], [1e300, 1e300, 0]])
    table = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    found = audit(named(table), far, 5.0)
    assert found.violations == 2
    assert found.smallest_epsilon_per_km == pytest.approx(math.log(2) * 1e300)


def test_dust_beside_zeros_counts_at_any_distance():
    table = np.array([[1.0, 0.0], [0.5, 0.5]])
    verdict = audit(named(table), np.array([[0.0, 1e300], [1e300, 0.0]]), 1e6)
    assert not verdict.holds
    assert verdict.violations == verdict.infinite_ratios == 1


def test_rows_are_judged_divided_by_their_sum():
    # Entry by entry both columns respect e^1; as distributions, the first column does not.
    table = np.array([[0.731, 0.269], [0.26892, 0.73108]])
    scaled = table * (1 - 4e-7)
    scaled[0] /= 1 - 8e-7
    smallest = smallest_epsilon(scaled, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert smallest == pytest.approx(
        smallest_epsilon(table, np.array([[0.0, 1.0], [1.0, 0.0]])), abs=1e-9
    )


def test_the_worst_triple_is_where_the_smallest_epsilon_is_reached():
    matrix = exponential_matrix(SEVEN, SEVEN_KM, 5.0)
    verdict = audit(matrix, SEVEN_KM, 5.0)
    i, j = (matrix.row_cells.index(cell) for cell in (verdict.worst.real, verdict.worst.other))
    k = matrix.column_cells.index(verdict.worst.reported)
    ratio = matrix.probabilities[i, k] / matrix.probabilities[j, k]
    assert math.log(ratio) / SEVEN_KM[i, j] == pytest.approx(
        verdict.smallest_epsilon_per_km, rel=1e-12
    )


def test_blocks_of_any_size_give_the_same_verdict(monkeypatch):
    matrix = tight_matrix(10.0)
    whole = audit(matrix, SEVEN_KM, 10.0)
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 7)
    assert audit(matrix, SEVEN_KM, 10.0) == whole


def test_more_columns_than_rows_and_fewer_are_judged_too():
    table = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    pruned = ObfuscationMatrix(("a", "b"), ("a", "b", "c"), 0, table)
    apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert audit(pruned, apart, math.log(2) * (1 + 1e-15)).holds
    assert audit(pruned, apart, 1.0).comparisons == 6


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e7, "5", True])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidEpsilon):
        audit(tight_matrix(5.0), SEVEN_KM, epsilon)


@pytest.mark.parametrize(
    "spoil", [lambda d: d[:3], lambda d: -d, lambda d: d + np.eye(7), lambda d: d * math.nan]
)
def test_distances_that_are_none_are_refused(spoil):
    with pytest.raises(InvalidMatrix):
        audit(tight_matrix(5.0), spoil(SEVEN_KM), 5.0)
