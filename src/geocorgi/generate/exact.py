"""The optimum over all pairs and true distances, with a proof of how near it is (Paper: eq:LP).

The rays are taken from a cone a few billionths narrower than the one asked about, so that the
matrix can be sealed; the lower bound is proved on the cone asked about. The gap therefore holds
against the true optimum and includes what the room for sealing costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from geocorgi.errors import InvalidInput
from geocorgi.generate.generated import Evidence, Generated, judged
from geocorgi.generate.optimum.column_generation import Limits, solve
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.matrix.sealing import epsilon_to_solve

Progress = Callable[[float, float, float, float], None]


def exact(
    problem: ObfuscationProblem,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Generated:
    """Return the best matrix found, its loss, a proved bound and the gap between them.

    Stops at ``limits.gap``, at a limit of work or time, or at Ctrl-C, and then returns the best
    matrix so far with its honest gap. ``on_progress`` is told loss, bound, gap and seconds.
    """
    started = time.perf_counter()
    narrower = epsilon_to_solve(problem.epsilon_per_km, problem.distances_km)
    if narrower <= 0:
        raise InvalidInput(
            "two places are a few micrometres apart, too near for a promise; merge them into one"
        )
    solution = solve(
        narrower * problem.distances_km,
        problem.costs,
        metric=True,
        proof_rates=problem.epsilon_per_km * problem.distances_km,
        limits=limits,
        on_progress=on_progress,
    )
    evidence = Evidence(
        method=f"exact ({solution.method})",
        seconds=time.perf_counter() - started,
        lower_bound_km=solution.lower_bound,
        rounds=solution.rounds,
        stopped_by=solution.stopped_by,
    )
    return judged(problem, solution.probabilities, evidence)
