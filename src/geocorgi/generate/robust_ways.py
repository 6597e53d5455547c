"""Ways of adjusting reserves, from the one that hardly ever fails to the one that seldom ends.

With a uniform prior the best matrix for given reserves changes smoothly with them, and the
reserves settle in a dozen rounds. With a real prior it does not: cells that are hardly visited are
reported or not by a hair, the matrix jumps from corner to corner, and the reserves with it. So the
reserves are first adjusted for everybody alike, and for the prior as it is afterwards: what it
costs is counted by the true prior either way, and the better matrix is kept. The way for the true
prior is left as soon as it promises nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import Floats
from geocorgi.generate.robust_reserves import Iterate, Reserving, Step
from geocorgi.matrix.prunable import Rows

MOST_ROUNDS = 20
PATIENCE = 6  # rounds without a better promise
NEARLY = 1e-4
SETTLED = 5e-3
SLACK = 0.95  # more of epsilon left over than this is not believed to be worth more


@dataclass(frozen=True, slots=True)
class Way:
    """Where the reserves start, as a share of eps·d, how they move, and for which prior."""

    name: str
    start: float
    step: Step
    flat: bool

    def costs(self, problem: ObfuscationProblem) -> Floats:
        """Return the costs that the matrices are made for."""
        if not self.flat:
            return problem.costs
        return problem.detours_km / len(problem.places)

    def settled(self, reserving: Reserving, to_beat_km: float) -> Iterate | None:
        """Return the most promising iterate: a small loss that needs little more than epsilon.

        None where after some rounds none promises to be worthwhile beside ``to_beat_km``.
        """
        best, promised, since, last = None, np.inf, 0, np.inf
        reserves = self.start * reserving.exponents
        for count, iterate in enumerate(reserving.settling(reserves, self.step), 1):
            promise = _promise(reserving, iterate)
            if promise < promised:
                best, promised, since = iterate, promise, count
            still = abs(iterate.loss_km - last) <= NEARLY * iterate.loss_km
            last = iterate.loss_km
            idle = count - since >= PATIENCE
            if count == MOST_ROUNDS or idle or (still and iterate.factor <= 1 + NEARLY):
                break
            if count >= PATIENCE and promised > to_beat_km:
                break
        return best if promised <= to_beat_km else None


def settles(iterate: Iterate) -> bool:
    """Say whether a way has ended where it should, so that no other of its kind is needed."""
    return iterate.factor <= 1 + SETTLED


def is_uniform(problem: ObfuscationProblem) -> bool:
    """Say whether everybody is as likely everywhere."""
    return bool(np.ptp(problem.priors) <= NEARLY * problem.priors.max())


def ways_of(problem: ObfuscationProblem, rows: Rows) -> tuple[Way, ...]:
    """Return the ways to go, in their order."""
    quick, damped = Step(1.0, 0.5), Step(0.5, 0.25)
    if rows is Rows.DROP:
        ways = [("exact", 0.5, quick), ("exact", 0.0, Step(1.0, 1.0))]
    else:
        ways = [("exact", 0.5, quick), ("exact", 0.5, damped)]
    if is_uniform(problem):
        return tuple(Way(*way, flat=False) for way in ways)
    flat = tuple(Way("exact (reserves for a uniform prior)", *way[1:], flat=True) for way in ways)
    return (*flat, Way("exact", 0.5, damped, flat=False))


def _promise(reserving: Reserving, iterate: Iterate) -> float:
    """Return a loss to expect once the matrix keeps to epsilon.

    A loss falls with epsilon about as what a row leaves to its neighbours, ``e^{-eps·d}``.
    """
    apart = reserving.exponents[reserving.exponents > 0]
    power = 1 + float(apart.min(initial=0.0))
    return float(iterate.loss_km * max(iterate.factor, SLACK) ** power)
