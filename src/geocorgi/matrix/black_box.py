"""What can be said of a sampler that one can only draw from: a statistical test of epsilon.

Hypothesis, for all ordered pairs of the places: ``P(E | i) ≤ e^{eps·d_ij} · P(E | j)`` for
every set E of reports, which is what eps-Geo-Ind says of them. The first half of the draws looks
for the one set that is most suspicious for each pair; the second half, drawn apart, tests these
sets and no others. The test of a pair refutes when the exact lower confidence bound of ``P(E | i)``
exceeds ``e^{eps·d_ij}`` times the exact upper bound of ``P(E | j)``, each bound at the error
``(1 − confidence) / (2 · pairs)``. So an honest sampler is refuted with probability
``1 − confidence`` at most, whatever it is and however the sets were found.

It can refute an epsilon and never prove one: what was not drawn was not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidInput
from geocorgi.matrix.binomial import lower_bound, upper_bound
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.report_sets import ReportSet, suspects
from geocorgi.tree import distances

FEWEST_DRAWS = 1_000
Points = NDArray[np.float64]  # latitude and longitude in degrees, a row each
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TriedPlace:
    """A place to draw from: its name in the answer, and where it is."""

    name: str
    latitude: float
    longitude: float


Sampler = Callable[[TriedPlace, int], Points]


@dataclass(frozen=True, slots=True)
class PairTest:
    """One pair's test: a set of reports, how often it came from either place, and what follows."""

    real: str
    other: str
    distance_km: float
    reports: str
    from_real: int
    from_other: int
    draws_each: int
    epsilon_at_least_per_km: float


@dataclass(frozen=True, slots=True)
class SamplerAudit:
    """The verdict; all bounds hold together with the confidence."""

    epsilon_per_km: float
    confidence: float
    refuted: bool
    epsilon_at_least_per_km: float
    worst: PairTest
    tests: int
    draws: int


def audit_sampler(
    sampler: Sampler,
    places: Sequence[TriedPlace],
    epsilon_per_km: float,
    draws: int,
    confidence: float = 0.99,
    on_progress: Progress | None = None,
) -> SamplerAudit:
    """Draw from the sampler at all places, and test its epsilon for every ordered pair."""
    epsilon = require_epsilon(epsilon_per_km)
    if not 0.5 <= confidence < 1:
        raise InvalidInput(f"a confidence is from 0.5 to below 1, such as 0.99, not {confidence:g}")
    each = draws // (2 * len(places)) if len(places) > 1 else 0
    if each < FEWEST_DRAWS:
        raise InvalidInput(
            f"two or more places need {2 * FEWEST_DRAWS:,} draws each; ask for more draws"
        )
    table = distances.between_points(
        [place.latitude for place in places], [place.longitude for place in places]
    )
    if (table + np.eye(len(places)) <= 0).any():
        raise InvalidInput("two of the places to draw from are one and the same")
    drawn: dict[str, list[Points]] = {}
    for half in ("looking", "testing"):
        drawn[half] = []
        for place in places:
            drawn[half].append(_drawn(sampler, place, each))
            if on_progress is not None:
                on_progress(sum(map(len, drawn.values())) * each, 2 * each * len(places))
    alpha = (1 - confidence) / (2 * len(places) * (len(places) - 1))
    tests = [
        _tested(places, (i, j), chosen, drawn["testing"], float(table[i, j]), alpha)
        for (i, j), chosen in _chosen(places, drawn["looking"], epsilon * table, epsilon)
    ]
    worst = max(tests, key=lambda test: test.epsilon_at_least_per_km)
    return SamplerAudit(
        epsilon,
        confidence,
        worst.epsilon_at_least_per_km > epsilon,
        worst.epsilon_at_least_per_km,
        worst,
        len(tests),
        2 * each * len(places),
    )


def _drawn(sampler: Sampler, place: TriedPlace, count: int) -> Points:
    points = np.asarray(sampler(place, count), dtype=np.float64)
    if points.shape != (count, 2) or not np.isfinite(points).all():
        raise InvalidInput(
            f"the sampler did not return {count:,} places of a latitude and a longitude each"
        )
    return points


def _chosen(
    places: Sequence[TriedPlace],
    looking: list[Points],
    exponents: NDArray[np.float64],
    epsilon: float,
) -> Iterator[tuple[tuple[int, int], ReportSet]]:
    """Yield the most suspicious set of each ordered pair: found on one part, ranked on another."""
    middle = len(looking[0]) // 2
    for i in range(len(places)):
        for j in range(len(places)):
            if i == j:
                continue
            factor = math.exp(min(float(exponents[i, j]), 700.0))
            found = suspects(
                (looking[i][:middle], looking[j][:middle]),
                ((places[i].latitude, places[i].longitude),
                 (places[j].latitude, places[j].longitude)),
                factor, 1 / epsilon,
            )  # fmt: skip
            rest = looking[i][middle:], looking[j][middle:]
            yield (
                (i, j),
                max(found, key=lambda one: _suspicion(one, rest[0], rest[1], factor)),
            )


def _suspicion(one: ReportSet, real: Points, other: Points, factor: float) -> float:
    """Return by how many standard deviations a set breaks the promise; only for ranking."""
    hits, others = int(one.holds(real).sum()), int(one.holds(other).sum())
    return float((hits - factor * others) / math.sqrt(hits + factor * factor * others + 1))


def _tested(
    places: Sequence[TriedPlace],
    pair: tuple[int, int],
    chosen: ReportSet,
    testing: list[Points],
    distance_km: float,
    alpha: float,
) -> PairTest:
    i, j = pair
    hits, others = (int(chosen.holds(testing[at]).sum()) for at in pair)
    count = len(testing[i])
    low, high = lower_bound(hits, count, alpha), upper_bound(others, count, alpha)
    at_least = max(math.log(low / high) / distance_km, 0.0) if low > 0 else 0.0
    return PairTest(
        places[i].name, places[j].name, distance_km, chosen.words, hits, others, count, at_least
    )
