"""The door to qif, a peer that is used where it is installed and is no dependency.

qif finds the same optimum by a linear program of its own, with one of several solvers; where its
own choice fails the others that it ships are tried, and only the seconds of the one that succeeds
count.
"""

from __future__ import annotations

import importlib
import sys
import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from geocorgi.errors import MissingExtra, SolverFailed
from geocorgi.generate.generated import Evidence, Generated, judged
from geocorgi.generate.problem import ObfuscationProblem

SOLVERS = ("AUTO", "GLOP", "CLP", "HIGHS")


def has_qif() -> bool:
    """Return whether qif is installed."""
    return "qif" in sys.modules or find_spec("qif") is not None


def by_qif(problem: ObfuscationProblem) -> Generated:
    """Return qif's optimum over all pairs, judged by our auditor."""
    if not has_qif():
        raise MissingExtra("qif is not installed: pip install qif")
    qif: Any = importlib.import_module("qif")
    # Tables of plain floats: the quickest that a callback can be.
    exponents = (problem.epsilon_per_km * problem.distances_km).tolist()
    detours = problem.detours_km.tolist()
    for solver in SOLVERS:
        started = time.perf_counter()
        qif.lp.defaults.solver = solver
        try:
            found = qif.mechanism.d_privacy.min_loss_given_d(
                problem.priors,
                len(problem.reportable),
                lambda i, j: exponents[i][j],
                lambda i, j: detours[i][j],
            )
        except RuntimeError:
            continue
        if np.size(found):
            evidence = Evidence(f"qif ({solver})", time.perf_counter() - started)
            return judged(problem, np.maximum(np.asarray(found), 0.0), evidence)
    raise SolverFailed(f"qif: none of its solvers {', '.join(SOLVERS)} succeeds")
