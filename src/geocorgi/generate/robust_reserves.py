"""Reserves that are as small as the certificate lets them be (Paper: §4.4, Algorithm 1; ADR 6).

A reserve ``ρ_ij`` shortens the exponent that a pair may use: ``z_ik ≤ e^{eps·d_ij − ρ_ij} z_jk``.
For fixed reserves the best matrix is a problem for the engine, and that matrix shows, pair by pair,
what it needs under its worst pruning: ``V_ij = need_ij − eps·d_ij``. Where V is positive the
reserve rises by it; where it is negative, slack, part of it is handed back. A fixed point reserves
what is needed and no more. (The paper's way, ρ = ln R for all, reserves for columns that the worst
pruning removes, and over long distances once for every step of the way.)

Two reserves that together are ``eps·d_ij`` always suffice for their pair, since a row can lose no
more than the other allows: ``ln R_ij ≤ eps·d_ij − ρ_ji``. So that is where they end, and half of
``eps·d`` everywhere is a start from which everything is safe, whatever is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.optimum.solution import Solution, WarmStart
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import Floats, Indices, exact_budget

SETTLED = 1e-7  # of epsilon
NEARLY = 1e-3
LONGEST_STEP = 0.8
USUAL_GAP = 1e-3


@dataclass(frozen=True, slots=True)
class Pruning:
    """What may be removed: at most δ columns; with ``own``, never a row's own."""

    delta: int
    own: Indices | None


@dataclass(frozen=True, slots=True)
class Step:
    """How much of a shortage is reserved at once, and of slack handed back at once."""

    up: float
    down: float


@dataclass(frozen=True, slots=True)
class Iterate:
    """Reserves, the best matrix under them, its loss, and the factor on epsilon that it needs."""

    reserves: Floats
    rates: Floats
    solution: Solution
    loss_km: float
    excess: Floats
    log_reserves: Floats
    factor: float


@dataclass(slots=True)
class Reserving:
    """The problem with its exponents ``eps·d``, solved again and again for other reserves.

    ``costs`` are those that the matrices are made for; losses are counted by the problem's own.
    """

    problem: ObfuscationProblem
    costs: Floats
    exponents: Floats
    pruning: Pruning
    limits: Limits
    told: Callable[[Iterate], None]
    warm: WarmStart | None = None

    def solved(self, reserves: Floats, scale: float = 1.0) -> Iterate:
        """Return the best matrix for these reserves, at ``scale`` times what they leave."""
        rates = scale * np.maximum(self.exponents - reserves, 0.0)
        solution = solve(rates, self.costs, limits=self.limits, warm_start=self.warm)
        self.warm = solution.warm_start
        loss = float((self.problem.costs * solution.probabilities).sum())
        budget = exact_budget(solution.probabilities, self.pruning.delta, self.pruning.own)
        excess = budget.needs - self.exponents
        apart = self.exponents > 0
        factor = float((budget.needs[apart] / self.exponents[apart]).max(initial=0.0))
        iterate = Iterate(reserves, rates, solution, loss, excess, budget.log_reserves, factor)
        self.told(iterate)
        return iterate

    def settling(self, reserves: Floats, step: Step) -> Iterator[Iterate]:
        """Yield iterates that approach a fixed point, for as long as asked."""
        while True:
            iterate = self.solved(reserves)
            yield iterate
            reserves = self._moved(iterate, step)

    def closed(self, iterate: Iterate, rounds: int) -> Iterate:
        """Return an iterate that needs all of epsilon and no more, as far as doubles can tell.

        Shortages are reserved and no slack is handed back; what is then short or left over is taken
        from all alike, or given.
        """
        for _ in range(rounds):
            if iterate.factor <= 1.0:
                break
            iterate = self.solved(self._moved(iterate, Step(1.02, 0.0)))
        best, scale = iterate, 1.0
        for _ in range(rounds):
            if 1 - NEARLY <= iterate.factor <= 1:
                break
            scale *= (1 - SETTLED) / max(iterate.factor, LONGEST_STEP)
            iterate = self.solved(iterate.reserves, scale)
            best = min(best, iterate, key=_safe_first)
        return best

    def bound_km(self, iterate: Iterate) -> float:
        """Return a lower bound on the problem's own losses under the iterate's reserves."""
        if np.array_equal(self.costs, self.problem.costs):
            return iterate.solution.lower_bound
        found = solve(iterate.rates, self.problem.costs, limits=self.limits)
        return found.lower_bound

    def _moved(self, iterate: Iterate, step: Step) -> Floats:
        excess = iterate.excess
        reserves = iterate.reserves + np.where(excess > 0, step.up, step.down) * excess
        if step.down > 0:  # no reserve beyond what suffices, whatever the columns
            much = np.maximum(iterate.log_reserves, 0.0)
            less = iterate.reserves + step.down * (much - iterate.reserves)
            reserves = np.minimum(reserves, np.maximum(much, less))
        reserves = np.maximum(reserves, 0.0)
        both = reserves + reserves.T
        over = both > self.exponents
        return np.where(over, reserves * self.exponents / np.where(over, both, 1.0), reserves)


def _safe_first(iterate: Iterate) -> tuple[bool, float]:
    """Order iterates: those that keep to epsilon by their loss, then the others."""
    short = iterate.factor > 1.0
    return short, iterate.factor if short else iterate.loss_km


def without_clock(limits: Limits | None) -> Limits:
    """Return limits that do not depend on the machine: forests are equal byte for byte."""
    return Limits(gap=USUAL_GAP) if limits is None else replace(limits, seconds=None)
