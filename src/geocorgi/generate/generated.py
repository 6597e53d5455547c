"""What a generator hands back: a matrix and its evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import LossBelowBound
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.matrix.geo_ind import Audit, audit
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a generator came to its matrix; ``lower_bound_km`` is proved, None if there is none."""

    method: str
    seconds: float
    lower_bound_km: float | None = None
    rounds: int = 0
    stopped_by: str = "done"


@dataclass(frozen=True, slots=True)
class Generated:
    """A matrix, what it costs, how far from the optimum it can be at most, and what it promises.

    ``gap`` is ``(loss − bound) / loss``, None where no bound is known.
    """

    problem: ObfuscationProblem
    matrix: ObfuscationMatrix
    loss_km: float
    audit: Audit
    evidence: Evidence

    @property
    def gap(self) -> float | None:
        """The share of the loss that a better matrix could save at most."""
        if self.evidence.lower_bound_km is None:
            return None
        saved = max(self.loss_km - self.evidence.lower_bound_km, 0.0)
        return saved / self.loss_km if self.loss_km > 0 else 0.0


def judged(
    problem: ObfuscationProblem, probabilities: NDArray[np.float64], evidence: Evidence
) -> Generated:
    """Audit the matrix and compute its loss from the matrix itself, not from any solver's word."""
    shares = probabilities / probabilities.sum(axis=1, keepdims=True)
    matrix = ObfuscationMatrix(problem.places, problem.reportable, problem.level, shares)
    loss = float((problem.costs * matrix.probabilities).sum())
    bound = evidence.lower_bound_km
    if bound is not None and loss < bound * (1 - ROUNDING):
        raise LossBelowBound(f"a feasible loss of {loss!r} km lies under the bound {bound!r} km")
    verdict = audit(matrix, problem.distances_km, problem.epsilon_per_km)
    return Generated(problem, matrix, loss, verdict, evidence)
