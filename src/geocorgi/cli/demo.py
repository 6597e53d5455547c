"""The main job end to end, on made-up people: from public check-ins to one private report.

Run it with ``make demo`` or ``python -m geocorgi.cli.demo``.
"""

from __future__ import annotations

from rich.table import Table

from geocorgi.checkins.counts import leaf_counts
from geocorgi.checkins.readers import read_snap
from geocorgi.cli.hex_map import hex_map
from geocorgi.device.sampling import draw
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.quality_loss import expected_error_km, quality_loss_km
from geocorgi.matrix.sealing import Sealed, seal
from geocorgi.synthetic.files import SAN_FRANCISCO, bundled_check_ins
from geocorgi.terminal import console
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, priors_from_counts, restricted

EPSILON_PER_KM = 5.0
PRIVACY_LEVEL = 2


def main() -> None:
    """Show every step, and say what it means."""
    tree = LocationTree(SAN_FRANCISCO.root, 3)
    priors = _priors(tree)
    user = _pretend_user(tree, priors)
    _privacy_subtree(tree, priors, user)


def _priors(tree: LocationTree) -> Priors:
    console.rule("1  Where people are: a location tree and its priors")
    with bundled_check_ins() as path:
        counted = leaf_counts(read_snap(path), tree.leaves)
    visited = sum(1 for count in counted.counts if count)
    console.print(
        f"A tree of {tree.count(0)} leaves over San Francisco (root {tree.root}). "
        f"{int(counted.counts.sum()):,} check-ins of made-up people fall on {visited} of them, "
        f"{counted.outside:,} outside; {counted.report.rows_bad} rows are bad."
    )
    return priors_from_counts(tree.leaves, counted.counts)


def _pretend_user(tree: LocationTree, priors: Priors) -> str:
    """Return the leaf where the demo's user stands: the busiest one."""
    return max(tree.leaves, key=priors.__getitem__)


def _privacy_subtree(tree: LocationTree, priors: Priors, user: str) -> None:
    subtree = tree.subtree(tree.ancestor(user, PRIVACY_LEVEL))
    distances_km = distances.between_cells(subtree.leaves)
    console.rule("2  An obfuscation matrix, sealed and audited")
    matrix = exponential_matrix(subtree.leaves, distances_km, EPSILON_PER_KM)
    sealed = seal(matrix, distances_km, EPSILON_PER_KM)
    local = restricted(priors, subtree.leaves).probabilities
    _show_promise(sealed, _loss_m(matrix, distances_km, local))
    console.rule("3  One report")
    reported = draw(sealed.matrix, user)
    _show_report(sealed, user, reported, distances_km)


def _loss_m(
    matrix: ObfuscationMatrix, distances_km: distances.Table, local: distances.Table
) -> float:
    everywhere = local * 0 + 1 / len(local)
    return 1000 * quality_loss_km(
        matrix, local, expected_error_km(distances_km, distances_km, everywhere)
    )


def _show_promise(sealed: Sealed, loss_m: float) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("cells", f"{len(sealed.matrix.row_cells)}, all that share the user's subtree")
    table.add_row("promised", f"{EPSILON_PER_KM:g}-geo-indistinguishable, per km")
    table.add_row(
        "audited, exactly",
        f"[green]holds[/green] from {sealed.audit.smallest_epsilon_per_km:.4f} per km on; "
        f"{sealed.audit.violations} of {sealed.audit.comparisons:,} constraints violated",
    )
    table.add_row("quality loss", f"{loss_m:.0f} m of distance to a target, on average")
    console.print(table)


def _show_report(sealed: Sealed, user: str, reported: str, distances_km: distances.Table) -> None:
    matrix = sealed.matrix
    row = matrix.row_cells.index(user)
    chances = matrix.weights[row] / matrix.row_totals[row]
    away = 1000 * distances_km[row, matrix.column_cells.index(reported)]
    console.print(
        hex_map(
            dict(zip(matrix.column_cells, chances.tolist(), strict=True)),
            {reported: "R", user: "U"},
        )
    )
    console.print(
        f"The user stands at U; darker cells are likelier to be reported. Drawn and sent: R, the "
        f"cell [bold]{reported}[/bold], {away:.0f} m away. Nobody but the user sees U."
    )


if __name__ == "__main__":
    main()
