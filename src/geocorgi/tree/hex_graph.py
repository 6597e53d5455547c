"""The paper's graph over the leaves (Paper: §4.2, fig:graphapproximation, lem:graph).

Every hexagon is joined to its six neighbours and to the six cells diagonally beyond them: those at
two steps that share two neighbours with it, √3 spacings away. All twelve edges have the one
length a. ``d_G`` is the number of edges of a shortest path, times a.

Lemma 4.1 says ``d_G ≤ d``. On a perfect lattice of spacing a it is true; on real H3 cells it is
true when a is at most the smallest spacing, and false for larger ones
(tests/theorems/test_graph_approximation.py shows both).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from geocorgi.tree import cells


def hex_graph(leaves: Sequence[str]) -> NDArray[np.bool_]:
    """Return which of the leaves are joined by one of the paper's twelve edges."""
    position = {leaf: at for at, leaf in enumerate(leaves)}
    joined = np.zeros((len(leaves), len(leaves)), dtype=np.bool_)
    for leaf, at in position.items():
        for other in (*cells.neighbours(leaf), *diagonals(leaf)):
            if other in position:
                joined[at, position[other]] = joined[position[other], at] = True
    return joined


def diagonals(cell: str) -> tuple[str, ...]:
    """Return the cells at two steps that share two neighbours with ``cell``."""
    near = set(cells.neighbours(cell))
    second: dict[str, int] = {}
    for neighbour in near:
        for beyond in cells.neighbours(neighbour):
            second[beyond] = second.get(beyond, 0) + 1
    return tuple(
        sorted(far for far, paths in second.items() if paths == 2 and far not in near | {cell})
    )


def hops(joined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the edges of a shortest path between any two; infinite where there is none."""
    size = len(joined)
    steps = np.full((size, size), np.inf)
    reached = np.eye(size, dtype=np.bool_)
    steps[reached] = 0
    edges = joined.astype(np.float32)
    for step in range(1, size):
        # The number of ways, as floats: products of booleans are not BLAS's, and slow.
        ahead = (reached.astype(np.float32) @ edges > 0) & np.isinf(steps)
        if not ahead.any():
            break
        steps[ahead] = step
        reached = ahead
    return steps
