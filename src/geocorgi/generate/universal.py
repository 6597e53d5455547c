"""The universal mechanism as a generator: no solver, private under every pruning."""

from __future__ import annotations

import time

import numpy as np

from geocorgi.generate.generated import Evidence, Generated, judged
from geocorgi.generate.problem import ObfuscationProblem


def universal(problem: ObfuscationProblem) -> Generated:
    """Return ``Z_ik ∝ exp(-(eps/2)·d_ik)`` over the reportable places."""
    started = time.perf_counter()
    exponents = (problem.epsilon_per_km / 2) * problem.distances_km[:, problem.columns]
    nearest = exponents.min(axis=1, keepdims=True)  # keeps far rows from vanishing
    weights = np.exp(nearest - exponents)
    evidence = Evidence("exponential", time.perf_counter() - started)
    return judged(problem, weights / weights.sum(axis=1, keepdims=True), evidence)
