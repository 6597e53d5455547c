"""The statistical audit refutes what is wrong and lets pass what is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from geocorgi.cli.outside_sampler import cross_around
from geocorgi.errors import InvalidInput
from geocorgi.matrix.binomial import lower_bound, upper_bound
from geocorgi.matrix.black_box import audit_sampler
from tests.matrix.samplers import EPSILON, MIDDLE, Laplace, OptimalMatrix

CROSS = cross_around(*MIDDLE, EPSILON)
MILLION = 1_000_000
SEEDS = 100


def test_noise_in_the_wrong_axes_is_refuted():
    verdict = audit_sampler(Laplace(1, right_axes=False), CROSS, EPSILON, MILLION)
    assert verdict.refuted
    squeezed = EPSILON / math.cos(math.radians(MIDDLE[0]))
    assert EPSILON < verdict.epsilon_at_least_per_km < squeezed
    assert {verdict.worst.real, verdict.worst.other} == {"east", "west"}


def test_the_exact_place_one_time_in_four_is_refuted():
    verdict = audit_sampler(Laplace(2, exact_share=0.25), CROSS, EPSILON, MILLION)
    assert verdict.refuted
    assert verdict.worst.reports == "1 certain report"
    assert verdict.worst.from_real == pytest.approx(MILLION / 8 / 4, rel=0.05)
    assert verdict.worst.from_other == 0


def test_an_honest_sampler_is_refuted_just_below_what_it_needs():
    optimal = OptimalMatrix(3)
    assert not audit_sampler(optimal, optimal.places, EPSILON, MILLION).refuted
    assert audit_sampler(optimal, optimal.places, 0.9 * EPSILON, MILLION).refuted


def test_a_smaller_claim_than_the_noise_is_refuted():
    assert audit_sampler(Laplace(4, epsilon=1.3 * EPSILON), CROSS, EPSILON, MILLION).refuted


def test_the_sets_are_tested_on_draws_that_did_not_choose_them():
    """A sampler that is honest only while it is looked at first is judged by the rest."""
    calls = []

    class Changing(Laplace):
        def __call__(self, place, count):
            calls.append(count)
            self.exact_share = 0.25 if len(calls) <= len(CROSS) else 0.0
            return super().__call__(place, count)

    verdict = audit_sampler(Changing(5), CROSS, EPSILON, 200_000)
    assert calls == [25_000] * 8
    assert not verdict.refuted  # the second half is honest, and it alone is tested


def test_the_confidence_is_shared_by_all_pairs_and_both_bounds_of_each():
    worst = audit_sampler(Laplace(6, exact_share=0.25), CROSS, EPSILON, 200_000, 0.9).worst
    error = (1 - 0.9) / (4 * 3) / 2  # four places have twelve ordered pairs
    low = lower_bound(worst.from_real, worst.draws_each, error)
    high = upper_bound(worst.from_other, worst.draws_each, error)
    assert worst.epsilon_at_least_per_km == pytest.approx(math.log(low / high) / worst.distance_km)


@pytest.mark.parametrize("seed", range(10))
def test_honest_samplers_pass(seed):
    assert not audit_sampler(Laplace(seed), CROSS, EPSILON, 100_000).refuted


@pytest.mark.slow
def test_honest_samplers_pass_for_99_of_100_seeds_at_a_million_draws():
    passed = sum(
        not audit_sampler(Laplace(seed), CROSS, EPSILON, MILLION).refuted for seed in range(SEEDS)
    )
    assert passed >= 99


@pytest.mark.slow
def test_a_tight_matrix_passes_for_99_of_100_seeds():
    optimal = OptimalMatrix(0)
    passed = 0
    for seed in range(SEEDS):
        optimal.chance = np.random.default_rng(seed)
        passed += not audit_sampler(optimal, optimal.places, EPSILON, 300_000).refuted
    assert passed >= 99


@pytest.mark.parametrize(
    ("places", "draws", "confidence"),
    [(CROSS[:1], MILLION, 0.99), (CROSS, 7_000, 0.99), (CROSS, MILLION, 1.0),
     ([CROSS[0], CROSS[0]], MILLION, 0.99)],
)  # fmt: skip
def test_what_cannot_be_tested_is_refused(places, draws, confidence):
    with pytest.raises(InvalidInput):
        audit_sampler(Laplace(0), places, EPSILON, draws, confidence)


@pytest.mark.parametrize("shape_and_value", [((3, 2), 0.0), ((25_000, 2), np.nan), (25_000, 0.0)])
def test_a_sampler_that_returns_no_places_is_refused(shape_and_value):
    with pytest.raises(InvalidInput, match="did not return"):
        audit_sampler(lambda *_: np.full(*shape_and_value), CROSS, EPSILON, 200_000)


def test_the_cross_crosses_the_antimeridian():
    places = cross_around(-17.0, 179.999, EPSILON)
    assert min(place.longitude for place in places) < -179
    assert audit_sampler(Laplace(6, exact_share=0.25), places, EPSILON, 100_000).refuted
    assert not audit_sampler(Laplace(6), places, EPSILON, 100_000).refuted
