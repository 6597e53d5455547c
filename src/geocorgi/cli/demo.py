"""The main job end to end, on made-up people: from public check-ins to one private report.

Run it with ``make demo`` or ``python -m geocorgi.cli.demo``. It plays both sides, the server's and
the device's, which nothing else in this package may do.
"""

from __future__ import annotations

from rich.table import Table

from geocorgi.checkins.counts import leaf_counts
from geocorgi.checkins.readers import read_snap
from geocorgi.cli.hex_map import hex_map
from geocorgi.device.sampling import draw
from geocorgi.generate.exact import exact
from geocorgi.generate.generated import Generated
from geocorgi.generate.problem import problem_on_cells
from geocorgi.generate.universal import universal
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
    user = max(tree.leaves, key=priors.__getitem__)  # the demonstration's user: at the busiest leaf
    subtree = tree.subtree(tree.ancestor(user, PRIVACY_LEVEL))
    sealed = _matrix(subtree, restricted(priors, subtree.leaves))
    _report(sealed, user, distances.between_cells(subtree.leaves))


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


def _matrix(subtree: LocationTree, priors: Priors) -> Sealed:
    console.rule("2  An obfuscation matrix: optimal, sealed, audited")
    problem = problem_on_cells(subtree.leaves, EPSILON_PER_KM, priors)
    with console.status("solving…"):
        best, plain = exact(problem), universal(problem)
        sealed = seal(best.matrix, problem.distances_km, EPSILON_PER_KM)
    _show_promise(sealed, best, plain)
    return sealed


def _show_promise(sealed: Sealed, best: Generated, plain: Generated) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("cells", f"{len(sealed.matrix.row_cells)}, all that share the user's subtree")
    table.add_row("promised", f"{EPSILON_PER_KM:g}-geo-indistinguishable, per km")
    table.add_row(
        "audited, exactly",
        f"[green]holds[/green] from {sealed.audit.smallest_epsilon_per_km:.6f} per km on; "
        f"{sealed.audit.violations} of {sealed.audit.comparisons:,} constraints violated",
    )
    table.add_row(
        "quality loss",
        f"{best.loss_km * 1000:.1f} m of distance to a target, on average; "
        f"proved to be within {best.gap:.1g} of the optimum in {best.evidence.seconds:.1f} s",
    )
    table.add_row("without a solver", f"{plain.loss_km * 1000:.1f} m (the exponential mechanism)")
    console.print(table)


def _report(sealed: Sealed, user: str, distances_km: distances.Table) -> None:
    console.rule("3  One report")
    matrix = sealed.matrix
    row = matrix.row_cells.index(user)
    chances = matrix.weights[row] / matrix.row_totals[row]
    reported = draw(matrix, user)
    away = 1000 * distances_km[row, matrix.column_cells.index(reported)]
    shares = dict(zip(matrix.column_cells, chances.tolist(), strict=True))
    console.print(hex_map(shares, {reported: "R", user: "U"}))
    console.print(
        f"The user stands at U; darker cells are likelier to be reported. Drawn and sent: R, the "
        f"cell [bold]{reported}[/bold], {away:.0f} m away. Nobody but the user sees U."
    )


if __name__ == "__main__":
    main()
