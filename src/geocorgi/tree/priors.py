"""How likely each leaf is to be where somebody really is (Paper: §6.2, Priors).

:class:`Priors` keeps raw weights, usually counts of check-ins, so that taking a part and summing
upwards lose nothing; ``probabilities`` are the weights over their sum.

Decided, and true wherever priors are used:

* A leaf of weight zero is a possible real place that merely weighs nothing in the expected
  quality loss. It keeps its row and column and all its privacy constraints, and it is never
  removed: that nobody checked in somewhere does not mean that nobody is there.
* Cells that all weigh zero, such as a subtree without any check-in, get the uniform distribution
  over leaves: no knowledge is not a distribution, and the user there is owed a matrix too.
* Seen from above, the same subtree has probability zero. Both hold: the first answers "where
  below, given that she is there", the second "how likely is she there at all".

Bound: the exact sum of ``probabilities`` differs from 1 by less than 2**-51: the total
is rounded once (``math.fsum``) and so is every quotient, by at most 2**-53 of itself each time.

Only NumPy is needed here: priors are part of what runs on a user's device.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geocorgi.errors import InvalidPriors
from geocorgi.tree.cells import ancestor, require_cell, resolution_of


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """Weights of cells of one resolution: finite, not negative, at least one cell."""

    cells: tuple[str, ...]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        cells = tuple(require_cell(cell) for cell in self.cells)
        try:
            weights = np.array(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidPriors("weights are numbers, one a cell") from None
        _require_one_partition(cells)
        if weights.shape != (len(cells),):
            raise InvalidPriors(
                f"expected one weight for each of {len(cells)} cells, got shape {weights.shape}"
            )
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidPriors("weights are finite and not negative; some is not")
        if not np.isfinite(_total(weights)):
            raise InvalidPriors("weights are too large to be added up; divide all by the same")
        weights = weights + 0.0  # no negative zeros
        weights.setflags(write=False)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "weights", weights)

    @property
    def total(self) -> float:
        """The sum of the weights, correctly rounded."""
        return _total(self.weights)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The distribution over ``cells``, in their order; uniform if every weight is zero."""
        weights = _or_ones(self.weights)
        probabilities = weights / _total(weights)
        probabilities.setflags(write=False)
        return probabilities

    def __getitem__(self, cell: str) -> float:
        """Return the weight of one cell."""
        try:
            return float(self.weights[self.cells.index(cell)])
        except ValueError:
            raise InvalidPriors("these priors do not have that cell") from None


def priors_from_counts(
    cells: Sequence[str], counts: ArrayLike, *, smoothing: float = 0.0
) -> Priors:
    """Return priors from check-ins a leaf, ``smoothing`` being added to each count."""
    if not (math.isfinite(smoothing) and smoothing >= 0):
        raise InvalidPriors("smoothing is a finite number of check-ins, zero or more")
    return Priors(tuple(cells), np.asarray(counts, dtype=np.float64) + smoothing)


def uniform_priors(cells: Sequence[str]) -> Priors:
    """Return priors by which every cell is as likely as every other."""
    return Priors(tuple(cells), np.ones(len(cells)))


def restricted(priors: Priors, cells: Iterable[str]) -> Priors:
    """Return the priors of some of the cells, such as a subtree's leaves, in the order given."""
    places = {cell: place for place, cell in enumerate(priors.cells)}
    wanted = tuple(cells)
    if unknown := [cell for cell in wanted if cell not in places]:
        raise InvalidPriors(f"{len(unknown)} of the {len(wanted)} cells are not in these priors")
    return Priors(wanted, priors.weights[[places[cell] for cell in wanted]])


def restricted_to_subtree(priors: Priors, root: str) -> Priors:
    """Return the priors of the cells below ``root``, in the order they have here."""
    root, resolution = require_cell(root), resolution_of(root)
    if resolution > resolution_of(priors.cells[0]):
        raise InvalidPriors("that subtree's root is finer than the cells of these priors")
    below = [cell for cell in priors.cells if ancestor(cell, resolution) == root]
    if not below:
        raise InvalidPriors("these priors have no cell below that root")
    return restricted(priors, below)


def summed(priors: Priors, resolution: int) -> Priors:
    """Return the priors of the ancestors at a coarser resolution, each the sum of its leaves.

    Ancestors stand in the order of their first leaf. If every leaf weighs zero each counts as
    one, so that an ancestor is as likely as it has leaves: a pentagon has fewer.
    """
    above = [ancestor(cell, resolution) for cell in priors.cells]
    places = {cell: place for place, cell in enumerate(dict.fromkeys(above))}
    leaves: list[list[float]] = [[] for _ in places]
    for cell, weight in zip(above, _or_ones(priors.weights).tolist(), strict=True):
        leaves[places[cell]].append(weight)
    return Priors(tuple(places), np.array([math.fsum(weights) for weights in leaves]))


def _require_one_partition(cells: tuple[str, ...]) -> None:
    if not cells:
        raise InvalidPriors("priors need at least one cell")
    if len(set(cells)) != len(cells):
        raise InvalidPriors("some cell is there twice; add its weights up first")
    if len({resolution_of(cell) for cell in cells}) != 1:
        raise InvalidPriors("cells of different resolutions overlap; priors need one resolution")


def _or_ones(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights if weights.any() else np.ones(len(weights))


def _total(weights: NDArray[np.float64]) -> float:
    try:
        return math.fsum(weights)
    except OverflowError:
        return math.inf
