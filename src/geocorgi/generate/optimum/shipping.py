"""A vectorised proof that a column has little or nothing to offer.

For column ``l`` let ``worth = duals - costs_l``. Where it is positive is *demand*, where it is
negative is *capacity*. For any shipments ``y_ji >= 0`` with ``sum_i y_ji <= capacity_j`` and any
r in C,

    worth . r  <=  sum_i r_i (demand_i - sum_j y_ji kernel_ji)

because ``r_j >= kernel_ji r_i``. So what remains of the demand bounds every price, whoever chose
the shipments: here the nearest capacities in turn, for all columns at once. ``SLACK`` is the
relative error that all the additions behind one number could have made, rounded up generously.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geocorgi.generate.optimum.cone import Cone, Floats, Integers

NEIGHBOURS = 60
# Every sum here has at most K <= 10^4 terms of one sign: error below K units of 1.1e-16.
SLACK = 4e-12
# Below this a rate is not worth the trouble of dividing by it.
FAINT = 1e-250


@dataclass(frozen=True, slots=True)
class Demands:
    """Pairs of a column and a place whose worth is positive there, sorted by column."""

    columns: Integers
    places: Integers
    sizes: Floats

    def where(self, chosen: Integers) -> Demands:
        """Return the chosen ones."""
        return Demands(self.columns[chosen], self.places[chosen], self.sizes[chosen])


@dataclass(frozen=True, slots=True)
class Shipped:
    """What is left of the demands, and what is left of every capacity (columns x places)."""

    left: Floats
    capacity: Floats


def demands_of(worth: Floats) -> Demands:
    """Return every positive entry of ``worth`` (columns x places)."""
    columns, places = np.nonzero(worth > 0)
    return Demands(columns, places, worth[columns, places])


def nearest_places(cone: Cone) -> Integers:
    """Return for each place the others, nearest first: its candidates to ship from."""
    count = min(NEIGHBOURS, cone.size - 1)
    near = np.argpartition(cone.rates, count, axis=1)[:, : count + 1]
    order = np.argsort(np.take_along_axis(cone.rates, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1)


def shipped_greedily(cone: Cone, nearest: Integers, worth: Floats, demands: Demands) -> Shipped:
    """Ship to all the demands from their nearest capacities, step by step outwards."""
    left = demands.sizes.copy()
    capacity = (np.maximum(-worth, 0.0) * (1 - SLACK)).ravel()
    active = np.arange(len(left))
    for step in range(nearest.shape[1]):
        place = demands.places[active]
        source = nearest[place, step]
        rate = cone.kernel[source, place]
        slots, which = np.unique(demands.columns[active] * cone.size + source, return_inverse=True)
        # A capacity wanted by several demands is shared in proportion to what they want of it.
        wanted = left[active] / np.maximum(rate, FAINT)
        total = np.bincount(which, wanted, minlength=len(slots))
        given = wanted * np.minimum(1.0, capacity[slots] / np.maximum(total, 1e-280))[which]
        spent = np.bincount(which, given, minlength=len(slots))
        capacity[slots] = np.maximum(capacity[slots] - spent, 0.0)
        left[active] -= np.where(rate > FAINT, given * rate, 0.0)
        active = active[left[active] > 1e-13 * demands.sizes[active]]
    left = np.maximum(left, 0.0) + SLACK * demands.sizes
    return Shipped(left, capacity.reshape(worth.shape))
