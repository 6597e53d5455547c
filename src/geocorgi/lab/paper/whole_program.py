"""Algorithm 1 by a general solver, with the graph and without it (Paper: §4.4, alg:robustmatrix).

For measuring what the graph approximation saves: the linear program goes to HiGHS as printed, one
variable an entry and one constraint a pair and column. Without the graph every pair has its own
true distance, and its own reserve by Eq. 14 (row i, capped).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.generate.optimum.solver import solve_whole
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.reserved_budget import approximate_budget
from geocorgi.tree.hex_graph import hex_graph


@dataclass(frozen=True, slots=True)
class Program:
    """The pairs that are constrained, and ``eps·d`` of each, with one length for all edges."""

    pairs: NDArray[np.bool_]
    exponents: NDArray[np.float64]

    @property
    def constraints(self) -> int:
        """The number of Geo-Ind constraints: one a pair and column."""
        return int(self.pairs.sum()) * len(self.pairs)


def with_graph(problem: ObfuscationProblem) -> Program:
    """Return the program of the twelve neighbours, an edge being as long as the nearest pair."""
    pairs = hex_graph(problem.places)
    apart = problem.distances_km[problem.distances_km > 0]
    return Program(pairs, np.where(pairs, problem.epsilon_per_km * apart.min(), 0.0))


def without_graph(problem: ObfuscationProblem) -> Program:
    """Return the program of all pairs."""
    pairs = ~np.eye(len(problem.places), dtype=np.bool_)
    return Program(pairs, problem.epsilon_per_km * problem.distances_km)


def seconds_of_algorithm_1(
    problem: ObfuscationProblem, program: Program, delta: int, iterations: int
) -> float:
    """Return the seconds that the first program and ``iterations`` more take."""
    started = time.perf_counter()
    shares = solve_whole(program.exponents, program.pairs, problem.costs)
    for _ in range(iterations):
        with np.errstate(invalid="ignore"):  # pairs that are not constrained have no reserve
            budget = approximate_budget(_rows(shares), program.exponents, delta)
        rates = program.exponents - np.minimum(budget, program.exponents)
        shares = solve_whole(rates, program.pairs, problem.costs)
    return time.perf_counter() - started


def _rows(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)
