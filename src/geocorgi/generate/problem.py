"""What is to be solved, as pure data (Paper: §4.1, eq:LP)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidInput
from geocorgi.generate.costs import expected_detours_km
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.geo_ind import MOST_CELLS
from geocorgi.tree import cells, distances
from geocorgi.tree.priors import Priors


@dataclass(frozen=True, slots=True, eq=False)
class ObfuscationProblem:
    """The real places, how far apart they are, how likely, and what reporting which one costs.

    ``detours_km`` has one row for each real place and one column for each reportable one, so the
    reportable ones may be a part of the real ones (a public filter). ``level`` is the tree level
    of the places.
    """

    places: tuple[str, ...]
    reportable: tuple[str, ...]
    distances_km: distances.Table
    priors: NDArray[np.float64]
    detours_km: NDArray[np.float64]
    epsilon_per_km: float
    level: int = 0

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        require_epsilon(self.epsilon_per_km)
        size = len(self.places)
        if self.distances_km.shape != (size, size) or self.priors.shape != (size,):
            raise InvalidInput(f"{size} places need {size} priors and {size} × {size} distances")
        if self.detours_km.shape != (size, len(self.reportable)):
            raise InvalidInput("the costs are not one for each place and each reportable one")
        if not set(self.reportable) <= set(self.places) or not self.reportable:
            raise InvalidInput("the reportable places are one or more of the real ones")

    @property
    def costs(self) -> NDArray[np.float64]:
        """The coefficients of the quality loss, ``p_k c_kl`` (Paper: eq:matrix_gen)."""
        return np.asarray(self.priors[:, None] * self.detours_km, dtype=np.float64)

    @property
    def columns(self) -> NDArray[np.intp]:
        """The positions of the reportable places among the real ones."""
        positions = {place: position for position, place in enumerate(self.places)}
        return np.array([positions[place] for place in self.reportable], dtype=np.intp)


def problem_on_cells(
    leaves: Sequence[str],
    epsilon_per_km: float,
    priors: Priors | None = None,
    targets: Priors | None = None,
    reportable: Sequence[str] | None = None,
) -> ObfuscationProblem:
    """Return the problem on H3 cells; priors and targets are uniform over the cells by default."""
    places = _require_few(leaves)
    reported = places if reportable is None else tuple(reportable)
    latitudes, longitudes = cells.centres(places)
    to_targets = None
    if targets is not None:
        aimed = cells.centres(targets.cells)
        to_targets = distances.haversine_km(
            latitudes[:, None], longitudes[:, None], aimed[0][None, :], aimed[1][None, :]
        )
    return _problem(
        places,
        distances.between_points(latitudes, longitudes),
        epsilon_per_km,
        _shares(priors, places),
        (to_targets, None if targets is None else targets.probabilities),
        reported,
    )


def problem_on_points(
    names: Sequence[str],
    table: distances.Table,
    epsilon_per_km: float,
    weights: NDArray[np.float64],
) -> ObfuscationProblem:
    """Return the problem on a plain list of places, each of them equally likely the target."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not np.isfinite(weights).all() or (weights < 0).any() or not np.isfinite(total):
        raise InvalidInput("the weights of places are finite, not negative, and can be added up")
    shares = weights / total if total > 0 else np.full(len(names), 1 / len(names))
    return _problem(tuple(names), table, epsilon_per_km, shares, (None, None), tuple(names))


def _problem(
    places: tuple[str, ...],
    table: distances.Table,
    epsilon_per_km: float,
    shares: NDArray[np.float64],
    targets: tuple[distances.Table | None, NDArray[np.float64] | None],
    reportable: tuple[str, ...],
) -> ObfuscationProblem:
    to_targets, aims = targets
    if to_targets is None:
        to_targets = table
    if aims is None:
        aims = np.full(to_targets.shape[1], 1 / to_targets.shape[1])
    positions = {place: position for position, place in enumerate(places)}
    if unknown := [place for place in reportable if place not in positions]:
        raise InvalidInput(f"{len(unknown)} of the reportable cells are not among the real ones")
    columns = [positions[place] for place in reportable]
    detours = expected_detours_km(to_targets, columns, aims)
    return ObfuscationProblem(places, reportable, table, shares, detours, epsilon_per_km)


def _require_few(leaves: Sequence[str]) -> tuple[str, ...]:
    """Refuse more places than can be judged, before tables of their size are made."""
    if len(leaves) > MOST_CELLS:
        raise InvalidInput(
            f"{len(leaves):,} places are more than the {MOST_CELLS:,} of one matrix: choose a "
            "smaller height, or a root further down"
        )
    return tuple(leaves)


def _shares(priors: Priors | None, places: tuple[str, ...]) -> NDArray[np.float64]:
    if priors is None:
        return np.full(len(places), 1 / len(places))
    if priors.cells != places:
        raise InvalidInput("the priors are not one for each place, in the places' order")
    return priors.probabilities
