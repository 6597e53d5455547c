"""What reporting coarse cells costs (Paper: §4.5, §6.2).

The distance from the leaf to a target is estimated from the centre of the coarse cell.
"""

from __future__ import annotations

import numpy as np

from geocorgi.generate.problem import ObfuscationProblem
from geocorgi.lab.city import City
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.precision import average, coarsen
from geocorgi.matrix.quality_loss import expected_error_km, quality_loss_km
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells, distances
from geocorgi.tree.priors import Priors


def coarsened_loss_km(
    city: City,
    problem: ObfuscationProblem,
    matrix: ObfuscationMatrix | SealedMatrix,
    level: int,
    targets: Priors,
) -> float:
    """Return the loss of drawing a leaf and reporting its ancestor."""
    reported = coarsen(floating(matrix), city.tree, level)
    return quality_loss_km(reported, problem.priors, _errors(reported, targets))


def averaged_loss_km(
    city: City,
    problem: ObfuscationProblem,
    matrix: ObfuscationMatrix | SealedMatrix,
    level: int,
    targets: Priors,
) -> float:
    """Return the loss of the paper's reduction: a leaf reports by the row of its ancestor."""
    reduced = average(floating(matrix), city.tree, level, city.priors)
    rows = [reduced.row_cells.index(city.tree.ancestor(leaf, level)) for leaf in problem.places]
    spread = ObfuscationMatrix(
        problem.places, reduced.column_cells, level, reduced.probabilities[rows]
    )
    return quality_loss_km(spread, problem.priors, _errors(spread, targets))


def floating(matrix: ObfuscationMatrix | SealedMatrix) -> ObfuscationMatrix:
    """Return the matrix in probabilities."""
    if isinstance(matrix, ObfuscationMatrix):
        return matrix
    shares = matrix.weights / matrix.weights.sum(axis=1, keepdims=True, dtype=np.float64)
    return ObfuscationMatrix(matrix.row_cells, matrix.column_cells, matrix.level, shares)


def _errors(matrix: ObfuscationMatrix, targets: Priors) -> distances.Table:
    aimed = cells.centres(targets.cells)
    tables = []
    for some in (matrix.row_cells, matrix.column_cells):
        latitudes, longitudes = cells.centres(some)
        tables.append(
            distances.haversine_km(latitudes[:, None], longitudes[:, None], aimed[0], aimed[1])
        )
    return expected_error_km(tables[0], tables[1], targets.probabilities)
