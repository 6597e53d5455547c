"""Many reports against one home: the Bayes-optimal guess, and how often it is right.

The adversary knows the matrix, the prior of homes, which reports were sent from home, and from
which places all others were sent: more than any real one. What may stand in her way: a memory (one
draw a place, replayed), and decoys beside the home in S, the set that is never reported. Without
decoys, pruning the home makes a hole of its own shape. The likelihood of the reports is

    P(reports | h, S) = Π_t z_{h,k_t} / T_h(S) · Π_i Π_t z_{i,k_t} / T_i(S), zero if one is in S,

where T_i(S) is what S leaves of row i; the mean over all S that hold h, with decoys. For one report
from home and nothing pruned the success rate is a sum over reports, and is computed; for many it is
a sum over all sequences, and is estimated from seeded trials with an exact interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from geocorgi.matrix.binomial import lower_bound, upper_bound

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
ERROR = 0.025  # on either side of an interval
FAINTEST = 1e-300


@dataclass(frozen=True, slots=True)
class Habit:
    """What the user's device does: remember draws or not, and how many cells it prunes.

    0 is no pruning, 1 the home alone, and more the home and decoys.
    """

    memory: bool
    pruned: int


@dataclass(frozen=True, slots=True)
class Rate:
    """How often the home is found: an estimate and its 95 % interval."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Reports: how often each cell came from home; how many, and which, from other places."""

    from_home: Indices
    visits: Indices
    cells: Indices


@dataclass(frozen=True, slots=True)
class Holes:
    """All sets of one size, for each home those that hold it, and ln T_i(S) a row a set."""

    sets: Indices
    holding: Indices
    log_left: Floats


def holes_of(shares: Floats, size: int) -> Holes:
    """Return what may have been pruned."""
    sets, holding = _sets(len(shares), size)
    left = 1 - shares[:, sets].sum(axis=2).T
    return Holes(sets, holding, np.log(np.maximum(left, FAINTEST)))


@lru_cache(maxsize=4)
def _sets(cells: int, size: int) -> tuple[Indices, Indices]:
    sets = np.array(list(combinations(range(cells), size)), dtype=np.intp)
    holding = [np.flatnonzero((sets == home).any(axis=1)) for home in range(cells)]
    return sets, np.array(holding)


def one_report_accuracy(shares: Floats, homes: Floats) -> float:
    """Return how often one report from home gives the home away where nothing is pruned: exact."""
    return float((homes[:, None] * shares).max(axis=0).sum())


@dataclass(frozen=True, slots=True)
class Attack:
    """The attack on users of one habit and one matrix, each with some other places to go to."""

    shares: Floats
    homes: Floats
    habit: Habit
    holes: Holes | None
    other_places: int

    def success(self, days: int, trials: int, chance: np.random.Generator) -> Rate:
        """Return how often the home is guessed: a report a day from it, and one from elsewhere."""
        found = sum(self._is_found(days, chance) for _ in range(trials))
        return Rate(
            found / trials, lower_bound(found, trials, ERROR), upper_bound(found, trials, ERROR)
        )

    def log_posterior(self, seen: Seen) -> Floats:
        """Return the logarithm of the posterior of homes, up to a constant."""
        with np.errstate(divide="ignore"):
            logs, prior = np.log(self.shares), np.log(self.homes)
        came = seen.from_home > 0
        told: Floats = prior + logs[:, came] @ seen.from_home[came]
        told[seen.visits > 0] = -np.inf  # other places are not the home
        if self.holes is None:
            return told
        hidden: Floats = told + self._log_likelihood_of_holes(self.holes, seen)
        return hidden

    def _log_likelihood_of_holes(self, holes: Holes, seen: Seen) -> Floats:
        """Return ``ln mean over S of Π 1/T(S)`` for each home, over the S that no report is in."""
        weights = -(holes.log_left @ seen.visits)
        weights[(seen.cells[holes.sets] > 0).any(axis=1)] = -np.inf
        homes = np.arange(len(self.homes))[:, None]
        each = weights[holes.holding]
        each = each - seen.from_home.sum() * holes.log_left[holes.holding, homes]
        most = each.max(axis=1)
        scale = np.where(np.isfinite(most), most, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(scale + np.log(np.exp(each - scale[:, None]).sum(axis=1)))

    def _is_found(self, days: int, chance: np.random.Generator) -> bool:
        home = int(chance.choice(len(self.homes), p=self.homes))
        seen = self._seen(home, days, chance)
        return int(self.log_posterior(seen).argmax()) == home

    def _seen(self, home: int, days: int, chance: np.random.Generator) -> Seen:
        rows = self._rows(home, chance)
        others = [cell for cell in range(len(rows)) if cell != home]
        places = chance.choice(others, self.other_places, replace=False)
        visits = np.zeros(len(rows), dtype=np.intp)
        if self.other_places:
            visits = np.bincount(chance.choice(places, days), minlength=len(rows))
        nights = 1 if self.habit.memory else days
        if self.habit.memory:
            visits = np.minimum(visits, 1)
        from_home = chance.multinomial(nights, rows[home])
        cells = from_home.copy()
        for place in places:
            cells += chance.multinomial(visits[place], rows[place])
        return Seen(from_home, visits, cells)

    def _rows(self, home: int, chance: np.random.Generator) -> Floats:
        """Return what reports are drawn from: the matrix, without the home and its decoys."""
        if not self.habit.pruned:
            return self.shares
        others = [cell for cell in range(len(self.homes)) if cell != home]
        decoys = chance.choice(others, self.habit.pruned - 1, replace=False)
        rows = self.shares.copy()
        rows[:, [home, *decoys]] = 0.0
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))
