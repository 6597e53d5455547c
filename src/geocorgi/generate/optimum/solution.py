"""What the engine hands back: a matrix and its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from geocorgi.generate.optimum.cone import Floats


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Rays and duals of an earlier solve; rays are raised into the new cone before use."""

    rays: Floats
    duals: Floats


@dataclass(frozen=True, slots=True)
class Solution:
    """The best feasible matrix found, with a lower bound that holds whatever the tolerances."""

    probabilities: Floats
    loss: float
    lower_bound: float
    gap: float
    duals: Floats
    rounds: int
    solves: int
    method: str
    stopped_by: str
    warm_start: WarmStart
