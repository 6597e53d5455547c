"""Small instances for the laboratory's tests: seven leaves, and the made-up city."""

from __future__ import annotations

from geocorgi.lab.city import city_of
from geocorgi.lab.experiment import Setting
from geocorgi.lab.instance import instance

QUICK = Setting(quick=True)


def city():
    """Return the made-up city."""
    return city_of("synthetic", QUICK)


def seven(epsilon_per_km=5.0):
    """Return the problem on the first seven leaves."""
    return instance(city(), city().first_subtree.leaves[:7], epsilon_per_km, 1)
