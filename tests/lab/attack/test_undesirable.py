"""Reports that name what the user does not want named, against every case written out."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.lab.attack.undesirable import undesirable_share, undesirable_share_pruned
from geocorgi.matrix.prunable import Rows

CHANCE = np.random.default_rng(8)
SHARES = CHANCE.dirichlet(np.ones(7), 7)
PRIOR = np.array([0.3, 0.0, 0.2, 0.1, 0.0, 0.4, 0.0])
EMPTY = [1, 4, 6]


def written_out(pruned, rows):
    reports = PRIOR @ SHARES
    worst = sorted(EMPTY, key=lambda cell: -reports[cell])
    total = 0.0
    for home in range(7):
        gone = [home, *worst[: pruned - 1]] if pruned else []
        stands = [at for at in range(7) if rows is Rows.KEEP or at not in gone]
        for at in stands:
            row = [0.0 if cell in gone else SHARES[at, cell] for cell in range(7)]
            named = sum(p for cell, p in enumerate(row) if cell == home or cell in EMPTY)
            weight = PRIOR[at] / sum(PRIOR[k] for k in stands)
            total += PRIOR[home] * weight * named / sum(row)
    return total


def test_nothing_pruned():
    assert undesirable_share(SHARES, PRIOR) == pytest.approx(written_out(0, Rows.KEEP))


@pytest.mark.parametrize("rows", list(Rows))
@pytest.mark.parametrize("delta", [1, 2, 3])
def test_the_home_and_the_worst_empty_cells_pruned(rows, delta):
    found = undesirable_share_pruned(SHARES, PRIOR, delta, rows)
    assert found == pytest.approx(written_out(delta, rows))


def test_with_enough_to_prune_nothing_is_left():
    assert undesirable_share_pruned(SHARES, PRIOR, 4, Rows.KEEP) == 0.0
