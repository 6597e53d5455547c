"""``geocorgi-server matrix``: one obfuscation matrix, as good as it is proved to be."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import numpy as np
import typer

from geocorgi.errors import BadFile, InvalidInput, MissingExtra
from geocorgi.matrix.prunable import Rows
from geocorgi.server.points_file import read_points
from geocorgi.server.progress import shown_progress
from geocorgi.terminal import DOES_NOT_HOLD, INTERRUPTED, messages, print_json
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors
from geocorgi.tree.priors_file import read_weights

try:
    from geocorgi.generate.exact import Progress, exact
    from geocorgi.generate.generated import Generated
    from geocorgi.generate.optimum.column_generation import Limits
    from geocorgi.generate.paper import Solver, paper, paper_full
    from geocorgi.generate.problem import ObfuscationProblem, problem_on_cells, problem_on_points
    from geocorgi.generate.robust import robust
    from geocorgi.generate.robust_candidate import Removal
    from geocorgi.generate.robust_paper import PaperSettings, robust_paper
    from geocorgi.generate.universal import universal
    from geocorgi.server.matrix_answer import described, require_writable, show, written
    from geocorgi.server.robust_answer import (
        Wanted,
        answer_paper,
        answer_robust,
        iteration_shown,
        require_sealable,
    )
except ModuleNotFoundError as missing:
    if missing.name not in {"scipy", "highspy"}:
        raise
    raise MissingExtra(
        f"generating matrices needs {missing.name}: pip install 'geocorgi[server]'"
    ) from missing

Places = tuple[tuple[float, float], ...]
UNIFORM = "uniform"
EXAMPLE_ROOT = "872830828ffffff"


class Method(StrEnum):
    """How to generate."""

    EXACT = "exact"
    PAPER = "paper"
    PAPER_FULL = "paper-full"
    EXPONENTIAL = "exponential"


def matrix_command(
    epsilon: float = typer.Option(..., help="The privacy budget per km."),
    root: str = typer.Option(EXAMPLE_ROOT, help="The subtree's root, an H3 cell."),
    height: int = typer.Option(2, help="Levels below the root: 1, 2, 3, 4 for 7 to 2,401 leaves."),
    points: Path | None = typer.Option(None, help="Instead of a tree: CSV id,lat,lon,weight."),
    method: Method = typer.Option(Method.EXACT, help="How to generate."),
    prior: str = typer.Option(UNIFORM, help="CSV cell,weight, or 'uniform'."),
    targets: str = typer.Option(UNIFORM, help="CSV cell,weight, or 'uniform' over the leaves."),
    reportable: Path | None = typer.Option(None, help="CSV cell,weight: report only these cells."),
    spacing_km: float | None = typer.Option(None, help="With 'paper': the graph's edge length."),
    solver: Solver = typer.Option(Solver.ENGINE, help="With 'paper': who solves it."),
    delta: int | None = typer.Option(None, help="Survive the removal of so many cells."),
    rows: Rows = typer.Option(
        Rows.KEEP, help="With --delta: whether removed cells stay possible real places."
    ),
    iterations: int = typer.Option(10, min=1, help="With 'paper' and --delta: Algorithm 1's t."),
    gap: float = typer.Option(1e-4, help="Stop when the loss is proved this near the optimum."),
    time_limit: float | None = typer.Option(None, help="Stop after so many seconds."),
    out: Path | None = typer.Option(None, help="Write .safetensors (sealed) or .npz (as it is)."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Generate one obfuscation matrix with the least quality loss, and prove how little that is.

    [italic]exact[/italic] is the optimum over all pairs; [italic]paper[/italic] the printed linear
    program with its graph, [italic]paper-full[/italic] without; [italic]exponential[/italic] the
    universal mechanism, which survives every pruning. Ctrl-C ends the search and keeps the best.
    With --delta the matrix is certified to keep its promise whatever up to so many cells a user
    removes; [italic]paper[/italic] is then the printed Algorithm 1, judged by the same certificate
    (exit code 1 if it does not hold).

    Example: [bold]geocorgi-server matrix --epsilon 5 --out matrix.safetensors --json[/bold]

    Example: [bold]geocorgi-server matrix --points places.csv --epsilon 2 --gap 0.01[/bold]
    """
    limits = _limits(gap, time_limit)
    if out is not None:
        require_writable(out)
    if points is not None:
        _require_alone(prior, targets, reportable)
        problem, places = _problem_on_file(points, epsilon)
    else:
        problem = _problem_on_tree(LocationTree(root, height), epsilon, prior, targets, reportable)
        places = None
    if delta is not None:
        wanted = Wanted(out, places, {"prior": prior, "targets": targets}, as_json)
        settings = PaperSettings(iterations, spacing_km=spacing_km)
        _robust(problem, Removal(delta, rows), method, settings, limits, wanted)
        return
    with shown_progress(as_json=as_json) as progress:
        generated = _generate(problem, method, spacing_km, solver, limits, progress)
    answer = described(generated)
    if out is not None:
        answer |= written(out, generated, places, {"prior": prior, "targets": targets})
    if as_json:
        print_json(answer)
    else:
        show(generated, answer)
    if generated.evidence.stopped_by == "interrupt":
        raise typer.Exit(INTERRUPTED)


def _problem_on_file(points: Path, epsilon: float) -> tuple[ObfuscationProblem, Places]:
    found = read_points(points)
    table = distances.between_points(*zip(*found.points, strict=True))
    return problem_on_points(found.names, table, epsilon, found.weights), found.points


def _problem_on_tree(
    tree: LocationTree, epsilon: float, prior: str, targets: str, reportable: Path | None
) -> ObfuscationProblem:
    leaves = tree.leaves
    return problem_on_cells(
        leaves, epsilon, _prior(prior, leaves), _targets(targets), _reportable(reportable)
    )


def _robust(
    problem: ObfuscationProblem,
    removal: Removal,
    method: Method,
    settings: PaperSettings,
    limits: Limits,
    wanted: Wanted,
) -> None:
    if method is Method.PAPER:
        _robust_paper(problem, removal, settings, limits, wanted)
        return
    if method is not Method.EXACT:
        raise InvalidInput("with --delta a matrix is made by the method 'exact' or 'paper'")
    require_sealable(wanted.out)
    found = robust(problem, removal.delta, removal.rows, limits, iteration_shown(wanted))
    answer_robust(found, wanted)


def _robust_paper(
    problem: ObfuscationProblem,
    removal: Removal,
    settings: PaperSettings,
    limits: Limits,
    wanted: Wanted,
) -> None:
    """Run the printed Algorithm 1; the exit code says whether it came to what it promises."""
    if wanted.out is not None and wanted.out.suffix != ".npz":
        raise BadFile("Algorithm 1 as printed promises nothing to seal: end the name in .npz")
    told = iteration_shown(wanted)
    found = robust_paper(problem, removal.delta, removal.rows, settings, limits, told)
    if not answer_paper(found, wanted):
        raise typer.Exit(DOES_NOT_HOLD)


def _require_alone(prior: str, targets: str, reportable: Path | None) -> None:
    if (prior, targets, reportable) != (UNIFORM, UNIFORM, None):
        raise InvalidInput(
            "--points brings its own weights: leave --prior, --targets and --reportable out"
        )


def _limits(gap: float, time_limit: float | None) -> Limits:
    if not 0 <= gap < 1:
        raise InvalidInput(f"a gap is a share from 0 to below 1, such as 0.001, not {gap:g}")
    if time_limit is not None and not 0 < time_limit < float("inf"):
        raise InvalidInput("a time limit is a positive number of seconds")
    return Limits(gap=gap, seconds=time_limit)


def _prior(source: str, leaves: tuple[str, ...]) -> Priors | None:
    if source == UNIFORM:
        return None
    found = read_weights(source)
    known = dict(zip(found.cells, found.weights.tolist(), strict=True))
    missing = sum(leaf not in known for leaf in leaves)
    if missing == len(leaves):
        raise BadFile(f"{Path(source).name} has none of the {missing} leaves of this subtree")
    if missing:
        messages.print(f"note: {missing} leaves are not in {Path(source).name}; they weigh nothing")
    return Priors(leaves, np.array([known.get(leaf, 0.0) for leaf in leaves]))


def _targets(source: str) -> Priors | None:
    return None if source == UNIFORM else read_weights(source)


def _reportable(source: Path | None) -> tuple[str, ...] | None:
    return None if source is None else tuple(read_weights(source).cells)


def _generate(
    problem: ObfuscationProblem,
    method: Method,
    spacing_km: float | None,
    solver: Solver,
    limits: Limits,
    progress: Progress,
) -> Generated:
    makers: dict[Method, Callable[[], Generated]] = {
        Method.EXACT: lambda: exact(problem, limits, progress),
        Method.PAPER: lambda: paper(problem, spacing_km, solver, limits, progress),
        Method.PAPER_FULL: lambda: paper_full(problem),
        Method.EXPONENTIAL: lambda: universal(problem),
    }
    return makers[method]()
