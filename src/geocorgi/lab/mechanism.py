"""The mechanisms that are compared, each as rows of probabilities over the same leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.generate.exact import exact
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.paper import paper
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.robust import robust
from geocorgi.generate.robust_paper import robust_paper
from geocorgi.generate.universal import universal
from geocorgi.lab.attack.bayes import remapped
from geocorgi.lab.planar_laplace import planar_laplace
from geocorgi.matrix.log_ratios import Weights
from geocorgi.matrix.prunable import Rows

DELTA = 3
GAP = 1e-3


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A name, how the matrix is made, and whether making it takes seconds."""

    name: str
    make: Callable[[ObfuscationProblem], Weights]
    slow: bool = False


def _laplace(problem: ObfuscationProblem) -> NDArray[np.float64]:
    return planar_laplace(problem.places, problem.epsilon_per_km).probabilities


def _laplace_remapped(problem: ObfuscationProblem) -> Weights:
    return remapped(_laplace(problem), problem.priors, problem.detours_km)


def _ours(rows: Rows) -> Callable[[ObfuscationProblem], Weights]:
    return lambda problem: robust(problem, DELTA, rows, Limits(GAP)).sealed.weights


MECHANISMS = (
    Mechanism("planar Laplace, truncated", _laplace),
    Mechanism("planar Laplace, optimal remap", _laplace_remapped),
    Mechanism("exponential", lambda problem: universal(problem).matrix.weights),
    Mechanism("the paper's program", lambda problem: paper(problem).matrix.weights),
    Mechanism("optimal", lambda problem: exact(problem, Limits(GAP)).matrix.weights),
    Mechanism(
        "Algorithm 1", lambda problem: robust_paper(problem, DELTA).matrix.weights, slow=True
    ),
    Mechanism("ours, drop", _ours(Rows.DROP), slow=True),
    Mechanism("ours, keep", _ours(Rows.KEEP), slow=True),
)


def shares_of(weights: Weights) -> NDArray[np.float64]:
    """Return rows that sum to one."""
    return np.asarray(weights / weights.sum(axis=1, keepdims=True, dtype=np.float64))
