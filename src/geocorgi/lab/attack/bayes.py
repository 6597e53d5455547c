"""What an adversary who knows the prior and the matrix makes of one report: exact sums.

Shokri et al. (S&P 2011) measure privacy by the expected error of the best attack; these are the
classical quantities of that adversary. Nothing is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class View:
    """``error_km``: the least expected distance between the guess and the truth, over all guesses.

    ``accuracy``: how often the likeliest cell is the true one. ``entropy_bits``: what is not known
    of the cell after the report, on average. The same before any report, for comparison.
    """

    error_km: float
    accuracy: float
    entropy_bits: float


def view_of(shares: Floats, prior: Floats, distances_km: Floats) -> View:
    """Return the adversary's view of one report from rows of probabilities."""
    joint = prior[:, None] * shares
    # For each report: the guess that is nearest on average, among the cells.
    error = (distances_km @ joint).min(axis=0).sum()
    return View(float(error), float(joint.max(axis=0).sum()), _entropy_bits(joint))


def view_before(prior: Floats, distances_km: Floats) -> View:
    """Return the view without any report."""
    return view_of(np.ones((len(prior), 1)), prior, distances_km)


def remapped(shares: Floats, prior: Floats, costs_km: Floats) -> Floats:
    """Return the matrix in which each report is replaced by the one that costs least on average.

    Post-processing: it keeps every epsilon (Chatzikokolakis et al., PETS 2017).
    """
    best = (costs_km.T @ (prior[:, None] * shares)).argmin(axis=0)
    out = np.zeros((len(shares), costs_km.shape[1]))
    for column, target in enumerate(best):
        out[:, target] += shares[:, column]
    return out


def _entropy_bits(joint: Floats) -> float:
    """Return H(real | report) = H(real, report) − H(report)."""
    return _bits(joint.ravel()) - _bits(joint.sum(axis=0))


def _bits(masses: Floats) -> float:
    positive = masses[masses > 0]
    return float(-(positive * np.log2(positive)).sum())
