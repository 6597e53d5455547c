"""A reserve for each pair and each column, and the matrix that these reserves leave (ADR 6).

The condition of δ-prunability is one for each pair i, j and column k:
``z_ik ≤ e^{eps·d_ij} / R_ijk · z_jk``, R over the S *without k*. With one R for a pair, as in the
paper, a column also pays for prunings that would remove the column itself. Where rows are kept
that is nearly all there is to pay: the worst S removes the row's own column, and it is the own
column that need not reserve for it. So here every column has a cone of its own.

The best matrix under given reserves has reserves of its own; they are put in the place of the old
ones, again and again, until what is reserved is what is needed. In closed form that settles within
a dozen rounds, for no prior comes into it and nothing jumps from corner to corner; where there is
no closed form, or for the prior as it is, the best mixture takes its place, and the best round
that keeps to epsilon is taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from geocorgi.generate.column_cones import Mixed, bound_km, closed_form, mixture
from geocorgi.generate.optimum.cone import FARTHEST_RATE
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import DUST, Floats, reserves_of_row
from geocorgi.generate.robust_reserves import Pruning

MOST_ROUNDS = 60
ROUNDS_OF_MIXTURES, ROUNDS_OF_CLOSING = 16, 12
ROOM = 1e-6  # of epsilon: what rounds that come ever nearer may miss it by
STILL = 3e-6  # an entry that moves less has settled
MOST_RESERVED = 0.98  # of eps·d: two places never become one
MOST_THREADS = 8
STARTS = (0.5, 0.25, 0.0)  # of eps·d; half is safe whatever is removed
SHORTEST = 0.3  # step, of 1
HALF_WAY = 0.5
A_LITTLE = 1.01  # what is missing in the end is taken from all alike, so much at a time

Told = Callable[[Floats], None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A matrix, the rates that it was made under, those that its reserves leave, what it needs.

    ``factor``: how much of epsilon, one being all of it.
    """

    made: Mixed
    rates: Floats
    needed: Floats
    factor: float

    def bound_km(self, costs: Floats) -> float | None:
        """Return a lower bound on the loss of every matrix under the same rates."""
        return bound_km(self.rates, costs, self.made.duals)


@dataclass(frozen=True, slots=True)
class Columns:
    """The problem with its exponents ``eps·d``, solved again and again for other reserves."""

    problem: ObfuscationProblem
    exponents: Floats
    pruning: Pruning
    told: Told

    def settled(self) -> Judged | None:
        """Return the closed form under its own reserves, None where it does not come to that."""
        size = len(self.problem.places)
        apart = ~np.eye(size, dtype=np.bool_)
        if len(self.problem.reportable) != size or size < 2 or not self.exponents[apart].all():
            return None
        found = (self._settled_from(start) for start in STARTS)
        return next((one for one in found if one is not None), None)

    def mixed(self, start: Judged | None) -> Judged | None:
        """Return the cheapest mixture found that keeps to epsilon, beginning at these reserves."""
        found = list(self._mixtures(self._reserving(STARTS[0]) if start is None else start.needed))
        safe = [one for one in found if one.factor <= 1]
        return min(safe, key=self.loss_km, default=None)

    def loss_km(self, one: Judged) -> float:
        """Return the loss of its matrix."""
        return float((self.problem.costs * one.made.matrix).sum())

    def _settled_from(self, start: float) -> Judged | None:
        goal = self.exponents * (1 - ROOM)
        rates = self._reserving(start)
        last, before, step = np.zeros(goal.shape), np.zeros(goal.shape), 1.0
        for _ in range(MOST_ROUNDS):
            made = closed_form(rates, self.problem.columns, self.problem.costs)
            if made is None:
                return None
            judged = self._judged(made, rates, goal)
            change = made.matrix - last
            if np.abs(change).max() <= STILL * step:
                if judged.factor <= 1:
                    return judged
                goal = goal * ((1 - ROOM) / judged.factor)
            step = _relaxed(step, change, before)
            rates = rates + step * (judged.needed - rates)
            last, before = made.matrix, change
        return None

    def _mixtures(self, rates: Floats) -> Iterator[Judged]:
        """Yield rounds half way to the reserves needed; then the best one's, never lowered."""
        goal = self.exponents * (1 - ROOM)
        rounds: list[Judged] = []
        for _ in range(ROUNDS_OF_MIXTURES):
            made = mixture(rates, self.problem.costs)
            if made is None:
                return
            rounds.append(self._judged(made, rates, goal))
            yield rounds[-1]
            rates = rates + HALF_WAY * (rounds[-1].needed - rates)
        judged = min(rounds, key=self._promise)
        rates = judged.rates
        for _ in range(ROUNDS_OF_CLOSING):
            if judged.factor <= 1:
                return
            rates = np.minimum(rates, judged.needed) / min(judged.factor, A_LITTLE)
            made = mixture(rates, self.problem.costs)
            if made is None:
                return
            judged = self._judged(made, rates, goal)
            yield judged

    def _promise(self, one: Judged) -> float:
        """Return a loss to expect once the matrix keeps to epsilon, as a loss falls with it."""
        apart = self.exponents[self.exponents > 0]
        nearest = min(float(apart.min(initial=np.inf)), FARTHEST_RATE)
        return float(self.loss_km(one) * max(one.factor, 1.0) ** (1 + nearest))

    def _reserving(self, share: float) -> Floats:
        rates = (1 - share) * (1 - ROOM) * self.exponents
        return np.repeat(rates[None], len(self.problem.reportable), axis=0)

    def _judged(self, made: Mixed, rates: Floats, goal: Floats) -> Judged:
        """Say what the matrix needs and what its reserves leave of the goal."""
        self.told(made.matrix)
        sealable, size = made.matrix + DUST, len(goal)
        logs = np.log(sealable)
        needed = np.empty(rates.shape)
        factors = np.zeros(size)

        def visit(i: int) -> None:
            reserves = reserves_of_row(i, sealable, self.pruning.delta, self.pruning.own)
            needs = (logs[i] - logs + reserves).max(axis=1)
            apart = self.exponents[i] > 0
            factors[i] = (needs[apart] / self.exponents[i, apart]).max(initial=0.0)
            left = goal[i][:, None] - np.minimum(reserves, MOST_RESERVED * goal[i][:, None])
            needed[:, i, :] = np.clip(left, 0.0, FARTHEST_RATE).T

        with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
            list(pool.map(visit, range(size)))
        return Judged(made, rates, needed, float(factors.max()))


def _relaxed(step: float, change: Floats, before: Floats) -> float:
    """Return a shorter step where the matrix goes to and fro, a longer one where it creeps.

    If rounds multiply a change by λ, the step over ``1 − λ`` had been the right one (Aitken).
    """
    size = float((before * before).sum())
    repeated = float((change * before).sum()) / size if size > 0 else 0.0
    return float(np.clip(step / max(1 - repeated, SHORTEST), SHORTEST, 1.0))
