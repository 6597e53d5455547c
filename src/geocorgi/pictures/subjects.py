"""What there is to look at: each returns a picture of one value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from geocorgi.errors import InvalidInput
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.protection_radius import protection_radius_km
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.pictures.drawing import Circle, Drawing
from geocorgi.pictures.picture import Picture
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors

MOST_CELLS = 2_401


def picture_of_tree(tree: LocationTree) -> Picture:
    """Show a tree: its leaves, the outlines above (Paper: fig:treegeneration)."""
    coarser = tuple(cell for level in range(1, tree.height + 1) for cell in tree.nodes(level))
    caption = (
        f"{tree.count(0):,} leaves of H3 resolution {tree.leaf_resolution}, "
        f"{tree.height} levels below {tree.root}"
    )
    return Picture(Drawing("Location tree", caption, _few(tree.leaves), outlined=coarser))


def picture_of_priors(priors: Priors) -> Picture:
    """Show how likely each cell is."""
    shares = dict(zip(priors.cells, priors.probabilities.tolist(), strict=True))
    empty = sum(share == 0 for share in shares.values())
    caption = f"{len(shares):,} cells, {empty:,} of them of prior zero"
    return Picture(
        Drawing("Prior", caption, _few(priors.cells), shares, shares_are="share of visits")
    )


def picture_of_row(
    matrix: ObfuscationMatrix | SealedMatrix, cell: str, removed: Mapping[str, str] | None = None
) -> Picture:
    """Show where a user who is in ``cell`` may be reported, and how often.

    ``removed`` are cells that were pruned from the matrix, each with its reason: they are hatched.
    """
    cell, removed = cells.require_cell(cell), removed or {}
    if cell not in matrix.row_cells:
        raise InvalidInput("the matrix has no row for that cell; choose one of its row cells")
    row = np.asarray(matrix.weights[matrix.row_cells.index(cell)], dtype=np.float64)
    shares = dict(zip(matrix.column_cells, (row / row.sum()).tolist(), strict=True))
    shown = tuple(sorted({*matrix.row_cells, *matrix.column_cells, *removed}))
    return Picture(
        Drawing(
            "Where a report may fall",
            f"from cell {cell}, marked; {len(matrix.column_cells)} cells can be reported",
            _few(shown),
            shares,
            crossed=removed,
            marked={cell: "here"},
            shares_are="chance to be reported",
        )
    )


def picture_of_removal(tree: LocationTree, removed: Mapping[str, str]) -> Picture:
    """Show the leaves that are never reported, each with its reason."""
    leaves = _few(tree.leaves)
    inside = {cell: reason for cell, reason in removed.items() if cell in set(leaves)}
    coarser = tuple(cell for level in range(1, tree.height + 1) for cell in tree.nodes(level))
    caption = f"{len(inside)} of {len(leaves)} cells below {tree.root} are never reported"
    return Picture(Drawing("What is removed", caption, leaves, outlined=coarser, crossed=inside))


def picture_of_protection(tree: LocationTree, epsilon_per_km: float, accuracy_km: float) -> Picture:
    """Show two circles around the middle of a tree: protected within, accurate to.

    Inside the first, of radius ln(4)/eps, no report makes a place more than four times as likely
    as the middle, compared with before: the usual reading of Geo-Ind's level. The second is the
    distance by which reports are expected to be off.
    """
    radius_km = protection_radius_km(require_epsilon(epsilon_per_km))
    middle = cells.centre(tree.root)
    circles = (
        Circle(middle, radius_km, f"protected within {1000 * radius_km:,.0f} m"),
        Circle(middle, accuracy_km, f"accurate to {1000 * accuracy_km:,.0f} m", dashed=True),
    )
    caption = (
        f"epsilon {epsilon_per_km:g} per km: from one place in the full circle to its middle, a "
        "report shifts odds by 4 at most"
    )
    return Picture(Drawing("Protection", caption, _few(tree.leaves), circles=circles))


def _few(shown: tuple[str, ...]) -> tuple[str, ...]:
    if len(shown) > MOST_CELLS:
        raise InvalidInput(
            f"a picture shows at most {MOST_CELLS:,} cells, not {len(shown):,}: take a subtree"
        )
    return shown
