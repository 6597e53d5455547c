"""Matrices that keep their promise whatever the user removes (Paper: §4.4, Algorithm 1)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from geocorgi.errors import InvalidInput, NotPrivate
from geocorgi.generate.exact import exact
from geocorgi.generate.generated import Generated
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.generate.universal import universal
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Certificate, Rows, certify, own_columns
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import ROOM_KM, epsilon_to_solve, seal


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round: the loss in km of its matrix and the largest change of an entry."""

    loss_km: float
    change: float


@dataclass(frozen=True, slots=True)
class Robust:
    """A sealed matrix that is δ-prunable, with its certificate.

    ``lower_bound_km`` is one on the inner linear program at the last reserves, not on the best
    δ-prunable matrix; None where no program was solved.
    """

    problem: ObfuscationProblem
    sealed: SealedMatrix
    epsilon_per_km: float
    delta: int
    rows: Rows
    certificate: Certificate
    loss_km: float
    method: str
    iterations: tuple[Iteration, ...]
    lower_bound_km: float | None
    seconds: float


Progress = Callable[[Iteration], None]


def robust(
    problem: ObfuscationProblem,
    delta: int,
    rows: Rows = Rows.KEEP,
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Robust:
    """Return a sealed matrix that is δ-prunable by the exact certificate, or raise."""
    started = time.perf_counter()
    _require_delta(problem, delta)
    iterations: list[Iteration] = []
    if delta == 0:
        generated = exact(problem, limits)
        method = "exact"
    else:
        generated = _universal_to_seal(problem)
        method = "universal"
    iterations.append(Iteration(generated.loss_km, 0.0))
    if on_progress is not None:
        on_progress(iterations[-1])
    sealed, certificate = sealed_and_certified(problem, generated.matrix, delta, rows)
    return Robust(
        problem=problem,
        sealed=sealed,
        epsilon_per_km=problem.epsilon_per_km,
        delta=delta,
        rows=Rows(rows),
        certificate=certificate,
        loss_km=sealed_loss_km(problem, sealed),
        method=method,
        iterations=tuple(iterations),
        lower_bound_km=generated.evidence.lower_bound_km,
        seconds=time.perf_counter() - started,
    )


def sealed_and_certified(
    problem: ObfuscationProblem, matrix: ObfuscationMatrix, delta: int, rows: Rows
) -> tuple[SealedMatrix, Certificate]:
    """Seal the matrix and prove it δ-prunable over the shortened distances, or raise NotPrivate."""
    sealed = seal(matrix, problem.distances_km, problem.epsilon_per_km).matrix
    certificate = certify(
        sealed.weights,
        np.maximum(problem.distances_km - ROOM_KM, 0),
        problem.epsilon_per_km,
        delta,
        rows,
        own_columns(sealed.row_cells, sealed.column_cells),
    )
    if not certificate.holds:
        raise NotPrivate(
            f"the matrix is not {delta}-prunable at {problem.epsilon_per_km:g} per km: it needs "
            f"{certificate.smallest_epsilon_per_km:.12g}"
        )
    return sealed, certificate


def sealed_loss_km(problem: ObfuscationProblem, sealed: SealedMatrix) -> float:
    """Return the quality loss of the sealed weights (Paper: eq:matrix_gen)."""
    totals = np.array([float(total) for total in sealed.row_totals])
    return float((problem.costs * (sealed.weights / totals[:, None])).sum())


def _universal_to_seal(problem: ObfuscationProblem) -> Generated:
    narrower = epsilon_to_solve(problem.epsilon_per_km, problem.distances_km)
    return universal(replace(problem, epsilon_per_km=narrower))


def _require_delta(problem: ObfuscationProblem, delta: int) -> None:
    most = len(problem.reportable) - 2
    if isinstance(delta, bool) or not isinstance(delta, int) or not 0 <= delta <= max(most, 0):
        raise InvalidInput(
            f"delta is a whole number from 0 to {max(most, 0)} for {len(problem.reportable)} "
            f"reportable places, not {delta!r}"
        )
