"""Matrices that are δ-prunable at every step, none dearer than the last (Paper: §4.4; ADR 6).

Prop. 4.5 bounds the reserve by the largest entries of a matrix that is not there yet. Here they are
part of the program. Fix a cap ``τ_i < 1`` for each row: the δ largest entries of row i (without its
own where pruned rows leave) sum to at most τ_i. Reserve ``ln R_ij`` for the pair i, j, with

    R_ij = 1 / (1 − τ_i·(1 − e^{-e})),    e = eps·d_ij.

*Then the matrix is δ-prunable.* Let S be what is removed, σ_i what row i has in it. Adding up
``z_il ≤ e^e/R_ij · z_jl`` over S gives ``σ_j ≥ R_ij e^{-e} σ_i``, so

    R_ij (1 − σ_i) − (1 − σ_j) ≥ R_ij (1 − σ_i·(1 − e^{-e})) − 1 ≥ 0    as σ_i ≤ τ_i:

of row j there is left at most R_ij times what is left of row i, which is more than nothing, and
``z_ik / (1 − σ_i) ≤ e^e z_jk / (1 − σ_j)``. Nothing was asked of S but σ_i ≤ τ_i: with ``keep`` S
is any δ columns; with ``drop`` it spares i (and j, which only helps), and so may the cap.

*It never costs more with the next caps.* Lower each τ_i to what the matrix has in its δ largest
entries. The caps still hold and every R falls: the matrix is one of those allowed, and the best of
them costs no more. So caps are lowered until the loss stops falling.

*There is always a start.* The uniform matrix keeps to every cap from δ over the number of columns
on. Where the descent ends depends on where it began, so several beginnings are tried. One is what
the matrix of half of epsilon keeps to: where no τ_i is above ``1 / (1 + e^{-e/2})``, which is more
than a half, its own rates ``e/2`` are no higher than those that are left, and so is no loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from geocorgi.errors import InvalidInput
from geocorgi.generate.optimum.capped import Capped, solve_under_caps
from geocorgi.generate.optimum.capped_master import ROOM, Caps
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import Floats, bound_from_share, top_shares
from geocorgi.generate.robust_reserves import Pruning

MOST_STEPS = 12
WORTHWHILE = 1e-3  # of the loss: what a step must bring for another to be taken
HIGHEST = 1 - 1e-6
COARSE = 1e-2  # gap, while it is open from where to go down
STARTS = (0.5, 0.75)  # of the way from the lowest cap to one; nearer to it takes long


@dataclass(frozen=True, slots=True)
class CapStep:
    """Caps, and the best matrix found under them and their reserves."""

    caps: Floats
    found: Capped


@dataclass(frozen=True, slots=True)
class Lowering:
    """The problem with its exponents ``eps·d``, solved again and again under lower caps."""

    problem: ObfuscationProblem
    exponents: Floats
    pruning: Pruning
    limits: Limits

    @property
    def lowest(self) -> float:
        """The cap that the uniform matrix just keeps to."""
        return self.pruning.delta / len(self.problem.reportable)

    def starts(self, safe: Floats) -> tuple[Floats, ...]:
        """Return caps to begin with: what a safe matrix keeps to, and some alike for all rows."""
        kept = np.clip(self.shares(safe), self.lowest, HIGHEST)
        even = np.ones(len(self.problem.places))
        return (kept, *((self.lowest + part * (HIGHEST - self.lowest)) * even for part in STARTS))

    def cheapest(self, safe: Floats, told: Callable[[CapStep], None]) -> CapStep:
        """Return the best step: coarsely from every start, then as well as asked from the best."""
        coarse = replace(self, limits=replace(self.limits, gap=max(self.limits.gap, COARSE)))
        best: CapStep | None = None
        for caps in self.starts(safe):
            for step in coarse.steps(caps):
                told(step)
                best = step if best is None or step.found.loss < best.found.loss else best
        assert best is not None  # noqa: S101 - there is a start
        for step in self.steps(best.caps, best.found):
            told(step)
            best = step
        return best

    def steps(self, caps: Floats, known: Capped | None = None) -> Iterator[CapStep]:
        """Yield matrix after matrix, each δ-prunable and none dearer than the one before.

        ``known``: what was found under the same caps, or higher ones, if it keeps to these.
        """
        if known is None:
            self._require_caps(caps)
        step = CapStep(caps, self._solved(caps, known))
        yield step
        for _ in range(MOST_STEPS):
            caps = np.minimum(step.caps, self.shares(step.found.matrix))
            lower = CapStep(caps, self._solved(caps, step.found))
            yield lower
            if lower.found.loss > step.found.loss * (1 - WORTHWHILE):
                return
            step = lower

    def shares(self, matrix: Floats) -> Floats:
        """Return what the δ largest entries of each row come to."""
        return top_shares(matrix, self.pruning.delta, self.pruning.own)

    def _solved(self, caps: Floats, known: Capped | None) -> Capped:
        rates = self.exponents - bound_from_share(caps + ROOM, self.exponents)
        held = Caps(caps, self.pruning.delta, self.pruning.own)
        return solve_under_caps(rates, self.problem.costs, held, self.limits, known)

    def _require_caps(self, caps: Floats) -> None:
        if caps.shape != (len(self.problem.places),):
            raise InvalidInput(
                f"the caps are one for each of {len(self.problem.places)} places, not {caps.shape}"
            )
        if not ((caps >= self.lowest) & (caps <= HIGHEST)).all():
            raise InvalidInput(
                f"caps lie between {self.lowest:g}, which the uniform matrix keeps to, and "
                f"{HIGHEST:g}"
            )
