"""The user's own matrix: her subtree's, without S, at her precision (Paper: Alg. 4, steps 5 to 7).

What comes out is audited again, exactly, over the rows that remain: of a forest the certificate
has promised that it holds, of the universal mechanism the theorem
(:mod:`geocorgi.matrix.exponential`).

Where the universal mechanism stands in for the forest it is sealed in integers like any other, and
pruned and audited in every subtree of the map before it is used in one: a failure, which theory
excludes, would otherwise depend on where the user is.
"""

from __future__ import annotations

from dataclasses import dataclass

from geocorgi.device.policy import Precision
from geocorgi.device.preparation import Prepared
from geocorgi.device.selection import Mechanism, Selection
from geocorgi.errors import NotPrivate
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.precision import average, coarsen
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.matrix.sealing import in_integers, seal
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree


@dataclass(frozen=True, slots=True)
class Customised:
    """``leaves`` is the matrix after pruning, ``reported`` what is reported at the precision."""

    subtree: LocationTree
    leaves: SealedMatrix
    reported: SealedMatrix
    selection: Selection


def customise(
    prepared: Prepared, selection: Selection, subtree: LocationTree, precision_level: int
) -> Customised:
    """Return the matrix of one subtree for the selection, audited."""
    leaves = pruned(prepared, selection, subtree)
    reported = _at_precision(prepared, leaves, subtree, precision_level)
    return Customised(subtree, leaves, reported, selection)


def require_everywhere(prepared: Prepared) -> None:
    """Prune and audit the universal mechanism in every subtree of the map, or raise NotPrivate.

    Where S depends on where the user is there is nothing to be the same everywhere.
    """
    universal = prepared.selection.mechanism is Mechanism.UNIVERSAL
    if universal and not prepared.policy.voids_geo_ind:
        for subtree in prepared.public_map.subtrees(prepared.policy.privacy_level):
            pruned(prepared, prepared.selection, subtree)


def pruned(prepared: Prepared, selection: Selection, subtree: LocationTree) -> SealedMatrix:
    """Return the matrix of a subtree without S (Paper: Alg. 4, steps 5 and 6), or NotPrivate."""
    epsilon, rows = selection.request.epsilon_per_km, selection.request.rows
    if selection.mechanism is Mechanism.FOREST and prepared.accepted is not None:
        matrix = prepared.accepted.forest.matrices[subtree.root]
    else:
        matrix = _universal(subtree, selection, epsilon)
    if gone := selection.pruned.intersection(subtree.leaves):
        matrix = prune(matrix, gone, rows)
    verdict = audit(matrix, distances.between_cells(matrix.row_cells), epsilon)
    if not verdict.holds:
        raise NotPrivate(
            f"after pruning a matrix needs {verdict.smallest_epsilon_per_km:.9g} per km where "
            f"{epsilon:g} was promised: nothing is reported"
        )
    return matrix


def _universal(subtree: LocationTree, selection: Selection, epsilon: float) -> SealedMatrix:
    leaves, table = subtree.leaves, distances.between_cells(subtree.leaves)
    sealed = seal(exponential_matrix(leaves, table, epsilon), table, epsilon).matrix
    hidden = selection.left_out.intersection(leaves)
    return prune(sealed, hidden, Rows.KEEP) if hidden else sealed


def _at_precision(
    prepared: Prepared, leaves: SealedMatrix, subtree: LocationTree, level: int
) -> SealedMatrix:
    """Return the matrix at the precision level (Paper: Alg. 4, step 7; Alg. 2)."""
    if prepared.policy.precision is Precision.COARSEN:
        return coarsen(leaves, subtree, level)
    return in_integers(average(leaves, subtree, level, prepared.public_map.priors))
