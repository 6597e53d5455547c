"""Masses of planar Laplace noise, against sampling and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.lab.planar_laplace import flat_km, planar_laplace
from geocorgi.matrix.geo_ind import smallest_epsilon
from geocorgi.tree import distances
from tests.lab.instances import city

LEAVES = city().first_subtree.leaves


@pytest.mark.parametrize("epsilon", [2.0, 15.0])
def test_masses_are_those_of_noise_that_is_drawn(epsilon):
    chance, count = np.random.default_rng(1), 200_000
    points = flat_km(LEAVES)
    angle, radius = chance.uniform(0, 2 * np.pi, count), chance.gamma(2, 1 / epsilon, count)
    noisy = points[3] + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    square = (points**2).sum(axis=1) - 2 * noisy @ points.T
    drawn = np.bincount(square.argmin(axis=1), minlength=len(LEAVES)) / count
    masses = planar_laplace(LEAVES, epsilon).probabilities[3]
    # Six standard deviations of each count.
    assert (np.abs(drawn - masses) <= 6 * np.sqrt(masses / count) + 6 / count).all()


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0, 15.0])
def test_the_auditor_finds_it_private_at_the_epsilon_of_the_noise(epsilon):
    found = smallest_epsilon(
        planar_laplace(LEAVES, epsilon).weights, distances.between_cells(LEAVES)
    )
    # Centres on the sphere are up to a part in 1,000 nearer each other than in the plane.
    assert 0.9 * epsilon < found < 1.001 * epsilon


def test_two_halves_of_the_plane_are_a_marginal():
    """Two rows of two cells apart: what crosses the line between them is a one-sided tail."""
    masses = planar_laplace(LEAVES, 5.0).probabilities
    assert masses.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert (np.diagonal(masses) >= masses.max(axis=1) - 1e-15).all()
