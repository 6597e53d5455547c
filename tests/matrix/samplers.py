"""Samplers, honest ones and those that occur in the wild."""

from __future__ import annotations

import math

import numpy as np

from geocorgi.generate.exact import exact
from geocorgi.generate.problem import problem_on_cells
from geocorgi.matrix.black_box import TriedPlace
from geocorgi.tree import cells
from geocorgi.tree.distances import EARTH_RADIUS_KM

EPSILON = 5.0
MIDDLE = (37.77, -122.42)


class Laplace:
    """The planar Laplace mechanism, in the right axes or in the wrong ones."""

    def __init__(self, seed, *, right_axes=True, exact_share=0.0, epsilon=EPSILON):
        self.chance = np.random.default_rng(seed)
        self.right_axes, self.exact_share, self.epsilon = right_axes, exact_share, epsilon

    def __call__(self, place, count):
        angle = self.chance.uniform(0, 2 * np.pi, count)
        radius = self.chance.gamma(2, 1 / self.epsilon, count) / EARTH_RADIUS_KM
        # Degrees of longitude are shorter than those of latitude: forgetting that squeezes.
        shorter = math.cos(math.radians(place.latitude)) if self.right_axes else 1.0
        latitudes = place.latitude + np.degrees(radius * np.sin(angle))
        longitudes = place.longitude + np.degrees(radius * np.cos(angle)) / shorter
        out = np.stack([latitudes, longitudes], axis=1)
        out[self.chance.uniform(size=count) < self.exact_share] = (place.latitude, place.longitude)
        return out


class OptimalMatrix:
    """The exact optimum over the children of a cell: tight at epsilon, and honest."""

    def __init__(self, seed, epsilon=EPSILON):
        leaves = cells.descendants("882830828bfffff", 9)
        self.chance = np.random.default_rng(seed)
        self.matrix = exact(problem_on_cells(leaves, epsilon)).matrix
        self.points = np.stack(cells.centres(leaves), axis=1)
        self.places = [TriedPlace(leaf, *cells.centre(leaf)) for leaf in leaves]

    def __call__(self, place, count):
        row = self.matrix.row(place.name)
        return self.points[self.chance.choice(len(row), count, p=row / row.sum())]
