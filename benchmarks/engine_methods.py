"""Who solves an instance: our engine, HiGHS on the paper's program, and `qif` where it is there."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine_instances import Instance
from geocorgi.generate.exact import exact
from geocorgi.generate.generated import Evidence, Generated, judged
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.paper import Solver, paper
from geocorgi.generate.problem import ObfuscationProblem

QIF_SOLVERS = ("AUTO", "GLOP", "CLP", "HIGHS")  # its own choice, then others that it ships


def by_exact(problem: ObfuscationProblem, instance: Instance) -> Generated:
    return exact(problem, Limits(instance.gap, seconds=instance.time_limit))


def by_paper(problem: ObfuscationProblem, instance: Instance) -> Generated:
    return paper(problem, limits=Limits(instance.gap, seconds=instance.time_limit))


def by_highs(problem: ObfuscationProblem, instance: Instance) -> Generated:  # noqa: ARG001
    return paper(problem, solver=Solver.HIGHS)


def by_qif(problem: ObfuscationProblem, instance: Instance) -> Generated:  # noqa: ARG001
    failure = RuntimeError()
    for solver in QIF_SOLVERS:
        started = time.perf_counter()
        try:
            found = from_qif(problem, solver)
        except RuntimeError as error:
            failure = error
            continue
        evidence = Evidence(f"qif ({solver})", time.perf_counter() - started)
        return judged(problem, np.maximum(found, 0.0), evidence)
    raise failure


def from_qif(problem: ObfuscationProblem, solver: str) -> NDArray[np.float64]:
    import qif  # noqa: PLC0415 - an outside peer, not a dependency

    # Tables of plain floats: the quickest that a callback can be.
    exponents = (problem.epsilon_per_km * problem.distances_km).tolist()
    detours = problem.detours_km.tolist()
    qif.lp.defaults.solver = solver
    found = qif.mechanism.d_privacy.min_loss_given_d(
        problem.priors,
        len(problem.reportable),
        lambda i, j: exponents[i][j],
        lambda i, j: detours[i][j],
    )
    if not np.size(found):
        raise RuntimeError(f"{solver}: no matrix")
    return np.asarray(found)


METHODS: dict[str, Callable[[ObfuscationProblem, Instance], Generated]] = {
    "exact": by_exact,
    "paper": by_paper,
    "highs": by_highs,
    "qif": by_qif,
}
