"""The auditor of geo-indistinguishability (Paper: Def. 2.1, equ:Geo-Ind, equ:Geo-Ind1).

By Bayes' rule the paper's condition on posteriors is ``P(k|i) ≤ e^{eps·d_ij} · P(k|j)`` for all
rows i, j and all columns k, with the *true* distances and not the graph's. The auditor looks at
all of them and shares no code with anything that makes matrices.

It is exact. The probabilities are the entries divided by their row's exact sum, the distances and
epsilon are the doubles given, and every comparison near the border is decided in rational
arithmetic: there is no tolerance in either direction. ``smallest_epsilon_per_km`` is the smallest
double at which the matrix holds, so at the next smaller double it fails. (Two machines may compute
distances that differ in the last digits; a matrix that is tight to the last bit may then hold on
one and fail on the other. What must hold everywhere is made with room to spare.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.log_ratios import Weights
from geocorgi.matrix.ratio_scan import RatioScan

MOST_CELLS = 5_000


class Mechanism(Protocol):
    """What can be audited: rows of weights, each read as its quotients by its sum."""

    @property
    def row_cells(self) -> tuple[str, ...]:
        """The real cells."""

    @property
    def column_cells(self) -> tuple[str, ...]:
        """The reported cells."""

    @property
    def weights(self) -> Weights:
        """The rows."""


@dataclass(frozen=True, slots=True)
class WorstTriple:
    """Where the smallest epsilon is reached: ``reported`` tells ``real`` from ``other``."""

    real: str
    other: str
    reported: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What a matrix truly promises, and what it was asked to."""

    epsilon_per_km: float
    holds: bool
    smallest_epsilon_per_km: float
    worst: WorstTriple | None
    violations: int
    comparisons: int
    infinite_ratios: int

    @property
    def violated_share(self) -> float:
        """The share of all comparisons that fail at the epsilon asked for."""
        return self.violations / self.comparisons if self.comparisons else 0.0


def audit(matrix: Mechanism, distances_km: NDArray[np.float64], epsilon_per_km: float) -> Audit:
    """Return what the matrix promises over the distances between its rows' cells."""
    epsilon = require_epsilon(epsilon_per_km)
    weights = matrix.weights
    distances = _require_distances(distances_km, weights.shape[0])
    scan = RatioScan(weights, distances)
    smallest, triple = scan.largest_ratio()
    holds = epsilon >= smallest
    rows, columns = weights.shape
    return Audit(
        epsilon_per_km=epsilon,
        holds=holds,
        smallest_epsilon_per_km=smallest,
        worst=_named(matrix, triple),
        violations=0 if holds else scan.count_above(epsilon),
        comparisons=rows * (rows - 1) * columns,
        infinite_ratios=_count_infinite(weights),
    )


def smallest_epsilon(weights: Weights, distances_km: NDArray[np.float64]) -> float:
    """Return the smallest epsilon per km at which rows of weights hold; infinite if none does."""
    distances = _require_distances(distances_km, weights.shape[0])
    return RatioScan(weights, distances).largest_ratio().epsilon_per_km


def _named(matrix: Mechanism, triple: tuple[int, int, int] | None) -> WorstTriple | None:
    if triple is None:
        return None
    i, j, k = triple
    return WorstTriple(matrix.row_cells[i], matrix.row_cells[j], matrix.column_cells[k])


def _count_infinite(weights: Weights) -> int:
    """Return the number of ratios of something to nothing."""
    positive = np.count_nonzero(weights, axis=0)
    return int(np.sum(positive * (weights.shape[0] - positive)))


def _require_distances(distances_km: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Refuse distances that are none. They need be neither symmetric nor a metric."""
    distances = np.asarray(distances_km, dtype=np.float64)
    if rows > MOST_CELLS:
        raise InvalidMatrix(f"{rows:,} rows are more than the {MOST_CELLS:,} that fit an audit")
    if distances.shape != (rows, rows):
        raise InvalidMatrix(
            f"the distances are {' × '.join(map(str, distances.shape))}; "
            f"expected {rows} × {rows}, one for each pair of rows"
        )
    if not (np.isfinite(distances).all() and (distances >= 0).all()):
        raise InvalidMatrix("the distances hold a number that is negative or not finite")
    if np.diagonal(distances).any():
        raise InvalidMatrix("the distances hold a cell that is not at distance zero from itself")
    return distances
