"""The universal mechanism stays private after every pruning, rows dropped or kept."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import smallest_epsilon
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree

SEVEN = LocationTree("88283082a9fffff", 1).leaves
SEVEN_KM = distances.between_cells(SEVEN)
EVERY_PRUNING = list(chain.from_iterable(combinations(range(7), n) for n in range(7)))


def pruned(weights: np.ndarray, removed: tuple[int, ...], *, rows: str) -> np.ndarray:
    columns = np.setdiff1d(np.arange(weights.shape[1]), removed)
    kept = np.arange(len(weights)) if rows == "keep" else columns
    return weights[np.ix_(kept, columns)]


@pytest.mark.parametrize("rows", ["drop", "keep"])
@pytest.mark.parametrize("epsilon", [0.1, 5.0, 30.0])
def test_every_pruning_of_seven_leaves_keeps_the_promise(rows, epsilon):
    sealed = seal(exponential_matrix(SEVEN, SEVEN_KM, epsilon), SEVEN_KM, epsilon).matrix
    for removed in EVERY_PRUNING:
        kept = np.arange(7) if rows == "keep" else np.setdiff1d(np.arange(7), removed)
        after = pruned(sealed.weights, removed, rows=rows)
        assert smallest_epsilon(after, SEVEN_KM[np.ix_(kept, kept)]) <= epsilon


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_pruning_of_any_points_keeps_the_promise(data):
    places = data.draw(st.integers(2, 12))
    latitudes = data.draw(
        st.lists(st.floats(37.7, 37.8), min_size=places, max_size=places, unique=True)
    )
    longitudes = data.draw(st.lists(st.floats(-122.5, -122.4), min_size=places, max_size=places))
    removed = tuple(data.draw(st.sets(st.integers(0, places - 1), max_size=places - 1)))
    epsilon = data.draw(st.floats(0.1, 30))
    table = distances.between_points(latitudes, longitudes)
    matrix = exponential_matrix([f"place {n}" for n in range(places)], table, epsilon)
    after = pruned(matrix.probabilities, removed, rows="keep")
    # Rounding is the only thing between the theorem and the floats: a part in 10^12 of epsilon,
    # more only where places are so near that the exponent itself drowns in it.
    room = 1e-12 + 1e-14 / (epsilon * table[table > 0].min())
    assert smallest_epsilon(after, table) <= epsilon * (1 + room)


def test_a_matrix_without_this_property_is_caught_by_the_same_test():
    # Half of epsilon in the exponent is what makes it universal: with all of it, pruning breaks it.
    weights = np.exp(-5.0 * SEVEN_KM)
    worst = max(
        smallest_epsilon(pruned(weights, removed, rows="keep"), SEVEN_KM)
        for removed in EVERY_PRUNING
    )
    assert worst > 5.5
