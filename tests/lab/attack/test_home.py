"""The attack on homes is the Bayes-optimal one: checked by writing everything out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from geocorgi.lab.attack.home import Attack, Habit, Seen, holes_of, one_report_accuracy

CELLS = 7
CHANCE = np.random.default_rng(4)
SHARES = CHANCE.dirichlet(np.ones(CELLS), CELLS)
HOMES = CHANCE.dirichlet(np.ones(CELLS))


def attack(pruned, *, memory=False, places=1):
    holes = holes_of(SHARES, pruned) if pruned else None
    return Attack(SHARES, HOMES, Habit(memory, pruned), holes, places)


def written_out(seen_from_home, other, seen_from_other, pruned):
    """Return the posterior of homes by Bayes' rule, one set at a time."""
    posterior = []
    for home in range(CELLS):
        rest = [cell for cell in range(CELLS) if cell != home]
        total = 0.0
        sets = list(itertools.combinations(rest, pruned - 1)) if pruned else [None]
        for decoys in sets:
            hidden = [] if decoys is None else [home, *decoys]
            rows = SHARES.copy()
            rows[:, hidden] = 0
            rows /= rows.sum(axis=1, keepdims=True)
            chances = [rows[home, cell] for cell in seen_from_home]
            chances += [rows[other, cell] for cell in seen_from_other]
            total += math.prod(chances) / len(sets)
        posterior.append(0.0 if home == other else HOMES[home] * total)
    return np.array(posterior) / sum(posterior)


@pytest.mark.parametrize("pruned", [0, 1, 2, 3])
@pytest.mark.parametrize(("from_home", "other", "from_other"), [
    ([2], 1, []), ([2, 2, 3], 0, [4]), ([0, 1], 4, [2, 2]), ([3], 2, [3, 3, 3]),
])  # fmt: skip
def test_the_posterior_is_bayes_rule(pruned, from_home, other, from_other):
    counts = np.bincount(from_home, minlength=CELLS)
    visits = np.zeros(CELLS, dtype=np.intp)
    visits[other] = len(from_other)
    seen = Seen(counts, visits, counts + np.bincount(from_other, minlength=CELLS))
    found = attack(pruned).log_posterior(seen)
    shares = np.exp(found - found.max())
    expected = written_out(from_home, other if from_other else None, from_other, pruned)
    assert shares / shares.sum() == pytest.approx(expected, abs=1e-12)


def test_one_report_is_what_the_closed_form_says():
    exact = one_report_accuracy(SHARES, HOMES)
    lone = Attack(SHARES, HOMES, Habit(memory=True, pruned=0), None, 0)
    found = lone.success(1, 4_000, np.random.default_rng(1))
    assert found.low <= exact <= found.high
    assert found.low < found.rate < found.high


def test_memory_gives_no_more_than_one_report_however_many_days():
    lone = Attack(SHARES, HOMES, Habit(memory=True, pruned=0), None, 0)
    rates = {lone.success(days, 500, np.random.default_rng(2)).rate for days in (1, 10, 1_000)}
    assert len(rates) == 1


def test_without_memory_the_home_is_found_in_the_end():
    lone = Attack(SHARES, HOMES, Habit(memory=False, pruned=0), None, 0)
    assert lone.success(3_000, 200, np.random.default_rng(3)).rate == 1.0
