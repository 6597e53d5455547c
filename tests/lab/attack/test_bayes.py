"""The adversary's view, against everything that she could do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.lab.attack.bayes import remapped, view_before, view_of

SIZES = st.integers(2, 4)


def instance(size, seed):
    chance = np.random.default_rng(seed)
    shares = chance.dirichlet(np.ones(size), size)
    points = chance.uniform(size=(size, 2))
    table = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    return shares, chance.dirichlet(np.ones(size)), table


@given(SIZES, st.integers(0, 10**6))
def test_no_strategy_of_guesses_does_better(size, seed):
    shares, prior, table = instance(size, seed)
    view = view_of(shares, prior, table)
    errors, rights = [], []
    for guesses in itertools.product(range(size), repeat=size):  # a guess for each report
        joint = [(prior[k] * shares[k, y], k, y) for k in range(size) for y in range(size)]
        errors.append(sum(p * table[guesses[y], k] for p, k, y in joint))
        rights.append(sum(p for p, k, y in joint if guesses[y] == k))
    assert view.error_km == pytest.approx(min(errors))
    assert view.accuracy == pytest.approx(max(rights))


@given(SIZES, st.integers(0, 10**6))
def test_a_report_never_makes_the_adversary_know_less(size, seed):
    shares, prior, table = instance(size, seed)
    view, before = view_of(shares, prior, table), view_before(prior, table)
    assert view.error_km <= before.error_km + 1e-12
    assert view.accuracy >= before.accuracy - 1e-12
    assert view.entropy_bits <= before.entropy_bits + 1e-9


def test_the_identity_tells_everything_and_a_constant_nothing():
    _, prior, table = instance(4, 0)
    everything = view_of(np.eye(4), prior, table)
    assert (everything.error_km, everything.accuracy) == (0.0, pytest.approx(1.0))
    assert everything.entropy_bits == pytest.approx(0.0, abs=1e-12)
    nothing, before = view_of(np.full((4, 4), 0.25), prior, table), view_before(prior, table)
    assert nothing.entropy_bits == pytest.approx(before.entropy_bits)
    assert nothing.error_km == pytest.approx(before.error_km)


@given(SIZES, st.integers(0, 10**6))
def test_the_remap_never_costs_and_never_tells_more(size, seed):
    shares, prior, table = instance(size, seed)
    after = remapped(shares, prior, table)
    assert after.sum(axis=1) == pytest.approx(1.0)
    assert prior @ (after * table).sum(axis=1) <= prior @ (shares * table).sum(axis=1) + 1e-12
    assert view_of(after, prior, table).accuracy <= view_of(shares, prior, table).accuracy + 1e-12
