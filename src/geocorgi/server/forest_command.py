"""``geocorgi-server forest``: one privacy forest of the map's catalogue, whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from geocorgi.errors import BadFile, MissingExtra
from geocorgi.files import write_atomically
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.terminal import INTERRUPTED, console, messages, print_json
from geocorgi.wire.canonical import digest
from geocorgi.wire.forest_request import ForestRequest
from geocorgi.wire.map_codec import map_id, read_map

try:
    from geocorgi.generate.privacy_forest import SubtreeDone, privacy_forest
except ModuleNotFoundError as missing:
    if missing.name not in {"scipy", "highspy", "threadpoolctl"}:
        raise
    raise MissingExtra(
        f"generating forests needs {missing.name}: pip install 'geocorgi[server]'"
    ) from missing


def forest_command(
    map_file: Path = typer.Option(..., "--map", help="The public map, from geocorgi-server map."),
    level: int = typer.Option(..., help="The privacy level."),
    delta: int = typer.Option(..., help="How many cells a user may remove."),
    epsilon: float = typer.Option(..., help="The privacy budget per km."),
    rows: Rows = typer.Option(Rows.KEEP, help="Whether removed cells stay possible real places."),
    filter_: str | None = typer.Option(None, "--filter", help="Report only what passes this."),
    out: Path = typer.Option(..., help="Write the forest here: .safetensors."),
    work_folder: Path | None = typer.Option(
        None, help="Keep finished subtrees here; else beside the forest until it is whole."
    ),
    cluster: str | None = typer.Option(None, help="Run on the Dask scheduler at this address."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Generate a certified matrix for each subtree of a privacy level.

    Subtrees run on all cores. Ctrl-C, or a crash, keeps those that are finished: the same command
    goes on from them. Equal inputs give equal bytes, wherever they are made.

    Example: [bold]geocorgi-server forest --map map.json --level 2 --delta 4 --epsilon 5 --out
    forest.safetensors[/bold]
    """
    _require_writable(out)
    public_map = read_map(map_file)
    request = ForestRequest(map_id(public_map), level, filter_, delta, rows, epsilon)
    folder = out.parent / f".{out.name}.work" if work_folder is None else work_folder
    with ExitStack() as stack:
        executor = None
        if cluster is not None:
            from geocorgi.cluster import cluster_executor  # noqa: PLC0415 - only if asked for

            executor = stack.enter_context(cluster_executor(cluster))
        try:
            forest = privacy_forest(
                public_map,
                request,
                executor=executor,
                work_folder=folder,
                on_progress=_progress(),
            )
        except KeyboardInterrupt:
            messages.print("interrupted; finished subtrees are kept: run the same command again")
            raise typer.Exit(INTERRUPTED) from None
    content = forest_bytes(forest)
    write_atomically(out, content)
    if work_folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    answer = described(forest, content) | {"out": out.name}
    if as_json:
        print_json(answer)
    else:
        _show(answer)


def described(forest: PrivacyForest, content: bytes) -> dict[str, Any]:
    """Return what there is to say about a forest."""
    return {
        "map_id": forest.map_id,
        "privacy_level": forest.privacy_level,
        "filter": forest.filter,
        "delta": forest.delta,
        "rows": forest.rows.value,
        "epsilon_per_km": forest.epsilon_per_km,
        "subtrees": len(forest.matrices),
        "certificates": {root: dict(one) for root, one in forest.certificates.items()},
        "bytes": len(content),
        "sha256": digest(content),
    }


def _require_writable(out: Path) -> None:
    if out.suffix != ".safetensors":
        raise BadFile(f"{out.name} is of no known kind: end its name in .safetensors")
    if not out.parent.is_dir():
        raise BadFile(f"cannot write {out.name}: its folder does not exist")


def _progress() -> Callable[[SubtreeDone], None]:
    def line(state: SubtreeDone) -> None:
        how = "finished before" if state.reused else "finished"
        messages.print(f"subtree {state.done} of {state.subtrees}, {state.root}: {how}")

    return line


def _show(answer: dict[str, Any]) -> None:
    table = Table("subtree", "method", "loss", "epsilon needed", box=None, padding=(0, 2))
    for root, one in answer["certificates"].items():
        needed = f"{one['smallest_epsilon_per_km']:.9g}"
        table.add_row(root, one["method"], f"{one['loss_km'] * 1000:.2f} m", needed)
    console.print(table)
    console.print(f"{answer['subtrees']} subtrees, all certified; {answer['bytes']:,} bytes")
    console.print(f"{answer['out']}  sha256 {answer['sha256']}")
