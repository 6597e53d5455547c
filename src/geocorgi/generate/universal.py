"""The universal mechanism as a generator: no solver, private under every pruning."""

from __future__ import annotations

import time

import numpy as np

from geocorgi.generate.generated import Evidence, Generated, judged
from geocorgi.generate.problem import ObfuscationProblem

FAINTEST = 1e-290


def universal(problem: ObfuscationProblem) -> Generated:
    """Return ``Z_ik ∝ exp(-(eps/2)·d_ik)`` over the reportable places."""
    started = time.perf_counter()
    exponents = (problem.epsilon_per_km / 2) * problem.distances_km[:, problem.columns]
    nearest = exponents.min(axis=1, keepdims=True)  # keeps far rows from vanishing
    # Where a float would vanish a constant stands in. Given the row's own scale it is a member of
    # the same cone, and so is the larger of two members: the proof is the same.
    weights = np.maximum(np.exp(nearest - exponents), FAINTEST)
    evidence = Evidence("exponential", time.perf_counter() - started)
    return judged(problem, weights / weights.sum(axis=1, keepdims=True), evidence)
