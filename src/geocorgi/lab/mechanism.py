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
OURS_KEEP = "ours, keep"


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A name, how the matrix is made, what pruning it is for, and whether making it takes seconds.

    ``pruned`` says whose rows leave with the cells that a user prunes; None: not to be pruned.
    """

    name: str
    make: Callable[[ObfuscationProblem], Weights]
    pruned: Rows | None = None
    slow: bool = False


def _laplace(problem: ObfuscationProblem) -> NDArray[np.float64]:
    return planar_laplace(problem.places, problem.epsilon_per_km).probabilities


def _laplace_remapped(problem: ObfuscationProblem) -> Weights:
    return remapped(_laplace(problem), problem.priors, problem.detours_km)


def _algorithm_1(problem: ObfuscationProblem) -> Weights:
    return robust_paper(problem, DELTA).matrix.weights


def _ours(rows: Rows) -> Callable[[ObfuscationProblem], Weights]:
    return lambda problem: robust(problem, DELTA, rows, Limits(GAP)).sealed.weights


MECHANISMS = (
    Mechanism("planar Laplace, truncated", _laplace),
    Mechanism("planar Laplace, optimal remap", _laplace_remapped),
    Mechanism("exponential", lambda problem: universal(problem).matrix.weights, Rows.KEEP),
    Mechanism("the paper's program", lambda problem: paper(problem).matrix.weights),
    Mechanism("optimal", lambda problem: exact(problem, Limits(GAP)).matrix.weights),
    Mechanism("Algorithm 1", _algorithm_1, Rows.DROP, slow=True),
    Mechanism("ours, drop", _ours(Rows.DROP), Rows.DROP, slow=True),
    Mechanism(OURS_KEEP, _ours(Rows.KEEP), Rows.KEEP, slow=True),
)


def mechanism_of(name: str) -> Mechanism:
    """Return the mechanism of a name."""
    (found,) = (mechanism for mechanism in MECHANISMS if mechanism.name == name)
    return found


def shares_of(weights: Weights) -> NDArray[np.float64]:
    """Return rows that sum to one."""
    return np.asarray(weights / weights.sum(axis=1, keepdims=True, dtype=np.float64))
