"""A sealed matrix with its proof that it is δ-prunable, or a refusal (Paper: Def. 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geocorgi.errors import NotPrivate
from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Certificate, Rows, certify, own_columns
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import ROOM_KM, seal


@dataclass(frozen=True, slots=True)
class Removal:
    """How many columns a user may remove, and what becomes of their rows."""

    delta: int
    rows: Rows


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sealed matrix with its certificate, its loss, and how it came to be."""

    sealed: SealedMatrix
    certificate: Certificate
    loss_km: float
    method: str
    lower_bound_km: float | None = None


def certified(
    problem: ObfuscationProblem,
    matrix: ObfuscationMatrix,
    removal: Removal,
    method: str,
    lower_bound_km: float | None = None,
) -> Candidate:
    """Seal the matrix and prove it δ-prunable over the shortened distances, or raise NotPrivate."""
    sealed = seal(matrix, problem.distances_km, problem.epsilon_per_km).matrix
    certificate = certify(
        sealed.weights,
        np.maximum(problem.distances_km - ROOM_KM, 0),
        problem.epsilon_per_km,
        removal.delta,
        removal.rows,
        own_columns(sealed.row_cells, sealed.column_cells),
    )
    if not certificate.holds:
        raise NotPrivate(
            f"the matrix is not {removal.delta}-prunable at {problem.epsilon_per_km:g} per km: it "
            f"needs {certificate.smallest_epsilon_per_km:.12g}"
        )
    return Candidate(sealed, certificate, _loss_km(problem, sealed), method, lower_bound_km)


def _loss_km(problem: ObfuscationProblem, sealed: SealedMatrix) -> float:
    """Return the quality loss of the sealed weights (Paper: eq:matrix_gen)."""
    totals = np.array([float(total) for total in sealed.row_totals])
    return float((problem.costs * (sealed.weights / totals[:, None])).sum())
