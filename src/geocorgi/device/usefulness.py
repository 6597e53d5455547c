"""What a report is worth, to whom it is meant for and to whom it is not, in metres.

Averages over the public prior of the subtree (Paper: Eq. 6 and 7 without targets): how far the
reported cell's centre is from the user, and how far the best adversary's guess still is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geocorgi.device.customising import Customised
from geocorgi.matrix.adversary import error_without_a_report_km, expected_error_km
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells, distances
from geocorgi.tree.priors import restricted
from geocorgi.wire.public_map import PublicMap


@dataclass(frozen=True, slots=True)
class Usefulness:
    """Mean distances in metres.

    ``mean_distance_m`` is from the user to the centre of what is reported, ``adversary_m`` from her
    to the best guess of who knows the prior and the policy and sees one report, and
    ``adversary_before_m`` to the best guess of who sees none.
    """

    mean_distance_m: float
    adversary_m: float
    adversary_before_m: float


def usefulness_of(public_map: PublicMap, customised: Customised) -> Usefulness:
    """Measure the user's matrix."""
    matrix = leaf_rows(customised)
    priors = restricted(public_map.priors, matrix.row_cells).probabilities
    table = distances.between_cells(matrix.row_cells)
    return Usefulness(
        mean_distance_m=1000 * _mean_distance_km(matrix, priors),
        adversary_m=1000 * expected_error_km(matrix, priors, table),
        adversary_before_m=1000 * error_without_a_report_km(priors, table),
    )


def leaf_rows(customised: Customised) -> SealedMatrix:
    """Return what is reported from each leaf: after averaging, the row of its ancestor."""
    leaves, reported = customised.leaves.row_cells, customised.reported
    if leaves == reported.row_cells:
        return reported
    resolution = cells.resolution_of(reported.row_cells[0])
    places = {cell: place for place, cell in enumerate(reported.row_cells)}
    rows = [places[cells.ancestor(leaf, resolution)] for leaf in leaves]
    return SealedMatrix(leaves, reported.column_cells, reported.level, reported.weights[rows])


def _mean_distance_km(matrix: SealedMatrix, priors: distances.Table) -> float:
    latitudes, longitudes = cells.centres(matrix.row_cells)
    to_latitudes, to_longitudes = cells.centres(matrix.column_cells)
    table = distances.haversine_km(
        latitudes[:, None], longitudes[:, None], to_latitudes[None, :], to_longitudes[None, :]
    )
    shares = matrix.weights / matrix.weights.sum(axis=1, keepdims=True, dtype=np.float64)
    return float(priors @ (shares * table).sum(axis=1))
