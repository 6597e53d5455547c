"""Planar Laplace on leaves: continuous noise, then the nearest leaf (truncated and remapped).

The mechanism of Andrés et al. (CCS 2013). The mass that noise around a leaf leaves in the region
nearest to another is an integral; here it is computed and not sampled. Along a ray from the
leaf the nearest centre is the lower envelope of straight lines (squared distances, less what they
have in common), and the mass between two distances is known in closed form; over the angle, the
integrand is smooth between the corners of the regions, so Gauss and Legendre integrate it piece by
piece.

In the flat plane the continuous mechanism keeps eps exactly and remapping is post-processing; on
leaves of a sphere the auditor says what is kept.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Voronoi

from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.tree import cells
from geocorgi.tree.distances import EARTH_RADIUS_KM

Floats = NDArray[np.float64]
NODES = 12  # of Gauss and Legendre, a piece
FAINTEST = 1e-290


def planar_laplace(leaves: tuple[str, ...], epsilon_per_km: float) -> ObfuscationMatrix:
    """Return the matrix of noise around each leaf's centre, remapped to the nearest leaf."""
    epsilon = require_epsilon(epsilon_per_km)
    points = flat_km(leaves)
    regions = Voronoi(points)
    rows = [_masses(points, at, regions, epsilon) for at in range(len(points))]
    shares = np.maximum(np.array(rows), FAINTEST)
    shares /= shares.sum(axis=1, keepdims=True)
    return ObfuscationMatrix(leaves, leaves, 0, shares)


def flat_km(leaves: tuple[str, ...]) -> Floats:
    """Return the leaves' centres in a plane at their middle, kilometres east and north."""
    latitudes, longitudes = cells.centres(leaves)
    latitude, longitude = latitudes.mean(), longitudes.mean()
    east = np.radians(longitudes - longitude) * math.cos(math.radians(latitude))
    return np.stack([east, np.radians(latitudes - latitude)], axis=1) * EARTH_RADIUS_KM


def _kinks(points: Floats, at: int, regions: Voronoi) -> Floats:
    """Return the angles between which the mass along a ray is smooth, in ascending order.

    Towards where regions meet, and along the borders that never end.
    """
    towards = regions.vertices - points[at]
    endless = [
        pair
        for pair, corners in zip(regions.ridge_points, regions.ridge_vertices, strict=True)
        if -1 in corners
    ]
    across = np.array([points[one] - points[other] for one, other in endless])
    along = np.stack([across[:, 1], -across[:, 0]], axis=1)
    seen = np.concatenate([towards, along, -along])
    return np.unique(np.arctan2(seen[:, 1], seen[:, 0]))


def _masses(points: Floats, at: int, regions: Voronoi, epsilon: float) -> Floats:
    """Return the mass of the noise around one point in the region of every point."""
    kinks = _kinks(points, at, regions)
    starts, ends = kinks, np.append(kinks[1:], kinks[0] + 2 * math.pi)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = (ends - starts) / 2
    angles = (starts + half)[:, None] + half[:, None] * nodes
    shares = half[:, None] * weights / (2 * math.pi)
    return _along_rays(points, at, angles.ravel(), shares.ravel(), epsilon)


def _along_rays(points: Floats, at: int, angles: Floats, shares: Floats, epsilon: float) -> Floats:
    """Walk all rays at once from region to region, adding up the mass between crossings."""
    offsets = points - points[at]
    square = (offsets**2).sum(axis=1)
    slopes = -2 * (
        np.cos(angles)[:, None] * offsets[:, 0] + np.sin(angles)[:, None] * offsets[:, 1]
    )
    masses = np.zeros(len(points))
    inside = np.full(len(angles), at)
    reached = np.zeros(len(angles))
    rays = np.arange(len(angles))
    for _ in range(len(points)):
        own = inside[rays]
        flatter = slopes[rays] < slopes[rays, own][:, None] - 1e-12
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = (square[None, :] - square[own][:, None]) / (
                slopes[rays, own][:, None] - slopes[rays]
            )
        crossing = np.where(flatter, np.maximum(crossing, reached[rays][:, None]), np.inf)
        following = crossing.argmin(axis=1)
        ends = crossing[np.arange(len(rays)), following]
        gained = _beyond(reached[rays], epsilon) - _beyond(ends, epsilon)
        np.add.at(masses, own, shares[rays] * gained)
        going = np.isfinite(ends)
        rays = rays[going]
        if not rays.size:
            break
        inside[rays], reached[rays] = following[going], ends[going]
    return masses


def _beyond(radius: Floats, epsilon: float) -> Floats:
    """Return the probability that noise goes beyond a radius: ``(1 + eps·r) e^{-eps·r}``."""
    finite = np.where(np.isfinite(radius), radius, 0.0)
    return np.where(np.isfinite(radius), (1 + epsilon * finite) * np.exp(-epsilon * finite), 0.0)
