"""The reserved privacy budget of every pair of places (Paper: Def. 4.3, eq:robustGeoI, Eq. 12).

What pruning may multiply the ratio of two rows by, as a logarithm: ``ln R_ij = eps_ij · d_ij`` of
the paper, where ``R_ij = max over |S| ≤ δ of T_j(S) / T_i(S)`` and ``T(S)`` is what S leaves of a
row. The paper calls it exponential in δ; it is a linear-fractional problem that a few rounds of
"take the δ best, compute the ratio" solve exactly (Dinkelbach's; ADR 6).

Taken off ``eps·d`` for every pair (Eq. 13, eq:prunableconstr) it suffices (Prop. 4.4).

* ``exact_budget``: Eq. 12 as it is, and in how far the reserve is needed by each pair.
* ``approximate_budget``: Eq. 14 (eq:approximateepsilon). Printed with row j; its proof is about
  row i, and only row i is an upper bound.
* ``bound_from_share``: ``−ln(1 − τ(1 − e^{-eps·d}))``, tighter than Eq. 14 and never capped: a row
  cannot hold less in S than ``R·e^{-eps·d}`` times the other (robust_monotone).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_ROUNDS = 50
SETTLED = 1e-14
MOST_THREADS = 8
DUST = 2.0**-52  # what sealing adds to every entry


class ApproximationRow(StrEnum):
    """The row whose largest entries Eq. 14 sums."""

    PROOF = "i"
    PRINTED = "j"


@dataclass(frozen=True, slots=True)
class Budget:
    """``log_reserves``: ln R of every ordered pair; ``needs``: its largest Λ under any pruning.

    A pair keeps its promise when its need is at most ``eps·d``.
    """

    log_reserves: Floats
    needs: Floats


def exact_budget(matrix: Floats, delta: int, own: Indices | None = None) -> Budget:
    """Return Eq. 12 for all pairs.

    ``own``: each row's own column (−1: none), which pruning leaves in place while the row is
    looked at (rows dropped); None when pruning may remove any column (rows kept).
    """
    matrix = matrix + DUST
    logs = np.log(matrix)
    size = len(matrix)
    budget = Budget(np.zeros((size, size)), np.zeros((size, size)))

    def visit(i: int) -> None:
        _visit(i, matrix, logs, (delta, own), budget)

    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        list(pool.map(visit, range(size)))
    return budget


def _visit(
    i: int, matrix: Floats, logs: Floats, pruning: tuple[int, Indices | None], budget: Budget
) -> None:
    """Fill in the budgets of row i towards all others."""
    delta, _ = pruning
    ratios = logs[i] - logs
    if delta == 0:
        budget.needs[i] = ratios.max(axis=1)
        return
    columns = np.argsort(-matrix[i], kind="stable")
    found = _best_sets(_Pairs(i, np.arange(len(matrix)), None), matrix, columns, pruning)
    budget.log_reserves[i] = np.log(found.ratio)
    budget.needs[i] = _needs(i, matrix, ratios, found, columns, pruning)
    budget.log_reserves[i, i] = budget.needs[i, i] = 0.0


@dataclass(frozen=True, slots=True)
class _Found:
    """Row i towards others: R, and the δ best columns; removed if worth more than 0."""

    ratio: Floats
    best: Indices
    worth: Floats

    def replace(self, rows: Indices, others: _Found) -> None:
        """Take some rows from another search."""
        for mine, theirs in (
            (self.ratio, others.ratio),
            (self.best, others.best),
            (self.worth, others.worth),
        ):
            mine[rows] = theirs


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Row i and several others; ``kept`` holds, for each, one more column that stays."""

    i: int
    others: Indices
    kept: Indices | None

    def some(self, at: Indices) -> _Pairs:
        """Return some of them."""
        return _Pairs(self.i, self.others[at], None if self.kept is None else self.kept[at])


def _best_sets(
    pairs: _Pairs, matrix: Floats, columns: Indices, pruning: tuple[int, Indices | None]
) -> _Found:
    """Return the worst prunings; ``columns`` are all of them, the richest of row i first."""
    # Only columns in which row i is rich are worth removing: nearly always the first few do.
    few = columns[: 2 * pruning[0] + 16]
    found = _dinkelbach(pairs, matrix, few, pruning)
    doubtful = np.flatnonzero(_missed(pairs, matrix, columns[len(few) :], found))
    if doubtful.size:
        found.replace(doubtful, _dinkelbach(pairs.some(doubtful), matrix, columns, pruning))
    return found


def _missed(pairs: _Pairs, matrix: Floats, rest: Indices, found: _Found) -> NDArray[np.bool_]:
    """Say for which pairs a column of the rest may be worth more than one that was taken."""
    if not rest.size:
        return np.zeros(len(pairs.others), dtype=np.bool_)
    bar = np.maximum(found.worth.min(axis=1), 0)
    missed = found.ratio * matrix[pairs.i, rest].max() > bar  # no column is worth more than that
    at = np.flatnonzero(missed)
    worth = found.ratio[at, None] * matrix[pairs.i, rest] - matrix[np.ix_(pairs.others[at], rest)]
    missed[at] = worth.max(axis=1) > bar[at]
    return np.asarray(missed)


def _dinkelbach(
    pairs: _Pairs, matrix: Floats, columns: Indices, pruning: tuple[int, Indices | None]
) -> _Found:
    """Return the worst prunings when only these columns may be removed."""
    i, others = pairs.i, pairs.others
    delta, own = pruning
    mine, theirs = matrix[i, columns], matrix[np.ix_(others, columns)]
    outside = np.setdiff1d(np.arange(matrix.shape[1]), columns)
    my_rest, their_rest = matrix[i, outside].sum(), matrix[np.ix_(others, outside)].sum(axis=1)
    forbidden = np.zeros(theirs.shape, dtype=np.bool_)
    if own is not None:
        forbidden |= (own[others, None] == columns) | (own[i] == columns)
    if pairs.kept is not None:
        forbidden |= pairs.kept[:, None] == columns
    count = len(others)
    ratio = matrix[others].sum(axis=1) / matrix[i].sum()
    found = _Found(ratio, np.empty((count, delta), dtype=np.intp), np.empty((count, delta)))
    rising = np.arange(count)
    for _ in range(MOST_ROUNDS):
        scores = ratio[rising, None] * mine - theirs[rising]
        scores[forbidden[rising]] = -np.inf
        best = np.argpartition(-scores, delta - 1, axis=1)[:, :delta]
        worth = np.take_along_axis(scores, best, axis=1)
        kept = np.ones(scores.shape)
        np.put_along_axis(kept, best, np.where(worth > 0, 0.0, 1.0), axis=1)
        mine_left = kept @ mine + my_rest
        theirs_left = np.einsum("jl,jl->j", theirs[rising], kept) + their_rest[rising]
        found.best[rising], found.worth[rising] = columns[best], worth
        higher = theirs_left / mine_left
        rose = higher > ratio[rising] * (1 + SETTLED)
        ratio[rising] = np.maximum(ratio[rising], higher)
        rising = rising[rose]
        if not rising.size:
            break
    return found


def _needs(
    i: int,
    matrix: Floats,
    ratios: Floats,
    found: _Found,
    columns: Indices,
    pruning: tuple[int, Indices | None],
) -> Floats:
    """Return ``max_k Λ_ijk + ln R``, R without k where the worst pruning would remove k."""
    values = ratios + np.log(found.ratio)[:, None]
    pair, place = np.nonzero(found.worth > 0)
    k = found.best[pair, place]
    most = values[pair, k]
    values[pair, k] = ratios[pair, k]
    needs = values.max(axis=1)
    again = np.flatnonzero(most > needs[pair])
    if again.size:
        without = _best_sets(_Pairs(i, pair[again], k[again]), matrix, columns, pruning)
        np.maximum.at(
            needs,
            pair[again],
            most[again] - np.log(found.ratio[pair[again]]) + np.log(without.ratio),
        )
    return np.asarray(needs)


def reserves_of_row(i: int, matrix: Floats, delta: int, own: Indices | None = None) -> Floats:
    """Return ``ln R`` of row i towards every row j for every column k, over the S without k.

    Most columns are not in the worst S of a pair and share its reserve; for those that are, the
    next best column leaves in their place.
    """
    columns, pruning = np.argsort(-matrix[i], kind="stable"), (delta, own)
    found = _best_sets(_Pairs(i, np.arange(len(matrix)), None), matrix, columns, pruning)
    reserves = np.repeat(np.log(found.ratio)[:, None], matrix.shape[1], axis=1)
    pair, place = np.nonzero(found.worth > 0)
    k = found.best[pair, place]
    without = _best_sets(_Pairs(i, pair, k), matrix, columns, pruning)
    reserves[pair, k] = np.log(without.ratio)
    return reserves


def top_shares(matrix: Floats, delta: int, own: Indices | None = None) -> Floats:
    """Return the sum of the δ largest entries of each row, with ``own`` all but the row's own."""
    if own is not None:
        matrix = matrix.copy()
        rows = np.flatnonzero(own >= 0)
        matrix[rows, own[rows]] = 0.0
    width = matrix.shape[1]
    return np.asarray(np.sort(matrix, axis=1)[:, width - delta :].sum(axis=1), dtype=np.float64)


def approximate_budget(
    matrix: Floats,
    exponents: Floats,
    delta: int,
    row: ApproximationRow = ApproximationRow.PROOF,
    own: Indices | None = None,
) -> Floats:
    """Return ``eps'_ij · d_ij`` of Eq. 14; infinite where the δ largest entries are all of a row.

    ``exponents`` holds ``eps·d_ij`` (Paper: eq:approximateepsilon, prop:rpb_approximation). With
    ``own`` S spares each row's own column, as it does where pruned rows leave.
    """
    shares = np.minimum(top_shares(matrix, delta, own), 1.0)
    share = shares[:, None] if row is ApproximationRow.PROOF else shares[None, :]
    with np.errstate(divide="ignore"):
        budget = np.log1p(-share * np.exp(-exponents)) - np.log1p(-share)
    np.fill_diagonal(budget, 0.0)
    return np.asarray(budget)


def bound_from_share(shares: Floats, exponents: Floats) -> Floats:
    """Return ``−ln(1 − τ_i (1 − e^{-eps·d_ij}))``, enough if row i's δ largest are at most τ_i."""
    return np.asarray(-np.log1p(shares[:, None] * np.expm1(-exponents)))
