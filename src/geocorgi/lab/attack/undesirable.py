"""How many reports name a cell that the person behind them would not want to have named.

Everybody wants ``home = False, popular = True`` (Paper: §6.1): of a person who lives in h the
cells that are not to be reported are h, and all in which nobody checks in. Homes and whereabouts
are drawn from the prior, independently. A mechanism that may be pruned of δ cells spends them on
the home and on the empty cells that it reports most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geocorgi.matrix.prunable import Rows

Floats = NDArray[np.float64]


def undesirable_share(shares: Floats, prior: Floats) -> float:
    """Return the share of reports that name the home or an empty cell, nothing pruned."""
    reports = prior @ shares
    return float(reports[prior == 0].sum() + prior @ reports)


def undesirable_share_pruned(shares: Floats, prior: Floats, delta: int, rows: Rows) -> float:
    """Return what is left of it after pruning ``delta`` cells, the home first.

    With rows dropped it is a share of what is reported at all: from home nothing is.
    """
    empty = np.flatnonzero(prior == 0)
    reports = prior @ shares
    worst = empty[np.argsort(-reports[empty], kind="stable")][: delta - 1]
    others = np.setdiff1d(empty, worst)
    total = 0.0
    for home in np.flatnonzero(prior):
        left = shares.copy()
        left[:, [home, *worst]] = 0.0
        where = prior.copy()
        if rows is Rows.DROP:
            where[[home, *worst]] = 0.0
        named = left[:, others].sum(axis=1) / left.sum(axis=1)
        total += prior[home] * float(where @ named) / float(where.sum())
    return total
