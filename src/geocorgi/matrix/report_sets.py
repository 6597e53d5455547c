"""Sets of reports that may tell two places apart, found by looking at reports from both.

Four kinds: everything beyond a line across the axis of the two places; one report that comes again
and again; all reports that came too often; all squares of a grid in which too many fell. The plane
is flat around the pair; a set is a set, however it is drawn, so nothing depends on its accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from geocorgi.tree.distances import EARTH_RADIUS_KM

Points = NDArray[np.float64]
Codes = NDArray[np.int64]
QUANTILES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
SIDES = (0.35, 1.0)  # of the grids' squares, in 1 / epsilon
REPEATED = 2e-3  # of the draws: what comes more often is no coincidence of a continuous sampler
MOST_VALUES = 20_000
SQUARES_ACROSS = 4_096
Pair = tuple[tuple[float, float], tuple[float, float]]


class ReportSet(Protocol):
    """A set of reports."""

    @property
    def words(self) -> str:
        """What the set is, for people."""

    def holds(self, points: Points) -> NDArray[np.bool_]:
        """Return which reports are in it."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Kilometres along the axis from one place to the other, and across it."""

    latitude: float
    longitude: float
    east: float
    north: float

    def coordinates(self, points: Points) -> Points:
        """Return each report's position along and across, from the first place."""
        away = (points[:, 1] - self.longitude + 180.0) % 360.0 - 180.0
        x = np.radians(away) * math.cos(math.radians(self.latitude)) * EARTH_RADIUS_KM
        y = np.radians(points[:, 0] - self.latitude) * EARTH_RADIUS_KM
        along = x * self.east + y * self.north
        return np.stack([along, y * self.east - x * self.north], axis=1)


@dataclass(frozen=True, slots=True)
class BeyondLine:
    """Everything at least so far along the axis."""

    plane: Plane
    at_least_km: float

    @property
    def words(self) -> str:
        """What the set is."""
        return f"reports {self.at_least_km:.3f} km or more beyond the first place, from the other"

    def holds(self, points: Points) -> NDArray[np.bool_]:
        """Return which reports are in it."""
        return np.asarray(self.plane.coordinates(points)[:, 0] >= self.at_least_km)


@dataclass(frozen=True, slots=True)
class SomeValues:
    """Certain reports, to the last digit."""

    values: Points

    @property
    def words(self) -> str:
        """What the set is."""
        return f"{len(self.values):,} certain report{'s' if len(self.values) > 1 else ''}"

    def holds(self, points: Points) -> NDArray[np.bool_]:
        """Return which reports are in it."""
        return np.isin(_as_one(points), _as_one(self.values))


@dataclass(frozen=True, slots=True)
class SomeSquares:
    """Certain squares of a grid."""

    plane: Plane
    side_km: float
    codes: Codes

    @property
    def words(self) -> str:
        """What the set is."""
        return f"{len(self.codes):,} squares of {self.side_km:.3f} km"

    def holds(self, points: Points) -> NDArray[np.bool_]:
        """Return which reports are in it."""
        return np.isin(_squares(self.plane, self.side_km, points), self.codes)


def suspects(
    drawn: tuple[Points, Points], pair: Pair, factor: float, unit_km: float
) -> Iterator[ReportSet]:
    """Yield sets in which reports from the first place may be too many, for ``factor``."""
    real, other = drawn
    plane = _plane(pair)
    along = plane.coordinates(real)[:, 0]
    for cut in np.quantile(along, QUANTILES):
        yield BeyondLine(plane, float(cut))
    yield from _values(real, other, factor)
    for side in SIDES:
        codes = [_squares(plane, side * unit_km, points) for points in drawn]
        chosen = _too_many(codes[0], codes[1], factor)
        yield SomeSquares(plane, side * unit_km, chosen)


def _plane(pair: Pair) -> Plane:
    """Return the plane at the first place whose axis points away from the other."""
    (latitude, longitude), (from_latitude, from_longitude) = pair
    flat = Plane(latitude, longitude, 1.0, 0.0)
    back = flat.coordinates(np.array([[from_latitude, from_longitude]]))[0]
    length = math.hypot(back[0], back[1])
    return Plane(latitude, longitude, -back[0] / length, -back[1] / length)


def _values(real: Points, other: Points, factor: float) -> Iterator[ReportSet]:
    """Yield the report that repeats most, and all that came too often."""
    values, counts = np.unique(_as_one(real), return_counts=True)
    most = int(counts.argmax())
    if counts[most] >= max(2, REPEATED * len(real)):
        yield SomeValues(_as_points(values[most : most + 1]))
        if len(values) <= MOST_VALUES:
            theirs = np.searchsorted(values, _as_one(other))
            known = np.minimum(theirs, len(values) - 1)
            matched = values[known] == _as_one(other)
            others = np.bincount(known[matched], minlength=len(values))
            yield SomeValues(_as_points(values[counts > factor * (others + 1)]))


def _too_many(real: Codes, other: Codes, factor: float) -> Codes:
    """Return the squares in which more of the real ones fell than the factor allows."""
    codes, counts = np.unique(real, return_counts=True)
    known, others = np.unique(other, return_counts=True)
    at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    theirs = np.where(known[at] == codes, others[at], 0)
    return np.asarray(codes[counts > factor * (theirs + 0.5)])


def _squares(plane: Plane, side_km: float, points: Points) -> Codes:
    """Return each report's square as one number; what is far away shares the border's squares."""
    steps = np.floor(plane.coordinates(points) / side_km)
    near = np.clip(steps, -SQUARES_ACROSS / 2, SQUARES_ACROSS / 2 - 1).astype(np.int64)
    return np.asarray((near[:, 0] + SQUARES_ACROSS // 2) * SQUARES_ACROSS + near[:, 1])


def _as_one(points: Points) -> NDArray[np.complex128]:
    """Return latitude and longitude as one sortable number."""
    return np.asarray(points[:, 0] + 1j * points[:, 1])


def _as_points(values: NDArray[np.complex128]) -> Points:
    return np.stack([values.real, values.imag], axis=1)
