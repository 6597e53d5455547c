"""``geocorgi picture``: what people would rather look at, as .svg, .png or .html."""

from __future__ import annotations

from pathlib import Path

import typer

from geocorgi.device.attributes.gathering import gatherer
from geocorgi.device.data_folder import data_folder
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.policy_file import read_policy
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.matrix.matrix_file import read_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import leaves_below, prune
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.pictures.picture import Picture, require_kind
from geocorgi.pictures.subjects import (
    picture_of_priors,
    picture_of_protection,
    picture_of_removal,
    picture_of_row,
    picture_of_tree,
)
from geocorgi.terminal import console
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors_file import read_weights
from geocorgi.wire.map_codec import read_map
from geocorgi.wire.public_map import PublicMap

EXAMPLE_ROOT = "872830828ffffff"

picture_app = typer.Typer(
    help="Draw a tree, a prior, a matrix's row, what is removed, or a protection.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Out = typer.Option(..., "--out", help="Write here: .svg, .png or .html.")
Root = typer.Option(EXAMPLE_ROOT, help="The tree's root, an H3 cell.")
Height = typer.Option(2, help="Levels below the root.")


@picture_app.command("tree")
def tree_picture(root: str = Root, height: int = Height, out: Path = Out) -> None:
    """Draw a location tree: its leaves and the outlines of the levels above.

    Example: [bold]geocorgi picture tree --root 86283082fffffff --height 3 --out tree.svg[/bold]
    """
    require_kind(out)
    _save(picture_of_tree(LocationTree(root, height)), out)


@picture_app.command("prior")
def prior_picture(
    file: Path = typer.Argument(..., help="CSV with the header 'cell,weight'."), out: Path = Out
) -> None:
    """Draw how likely each cell is.

    Example: [bold]geocorgi picture prior prior.csv --out prior.png[/bold]
    """
    require_kind(out)
    _save(picture_of_priors(read_weights(file)), out)


@picture_app.command("row")
def row_picture(
    file: Path = typer.Argument(..., help="A matrix: .npz, .csv or .safetensors."),
    cell: str = typer.Option(..., help="The real cell whose row is drawn."),
    remove: list[str] = typer.Option([], help="Prune this cell first, or all below it; repeat."),
    out: Path = Out,
) -> None:
    """Draw where a report from a cell may fall, and how often.

    Cells that are removed are never reported and drawn hatched; the user may still be in them.

    Example: [bold]geocorgi picture row matrix.safetensors --cell 892830828c7ffff --out r.svg[/bold]
    """
    require_kind(out)
    found = read_matrix(file).matrix
    if not isinstance(found, ObfuscationMatrix | SealedMatrix):
        raise BadFile(f"{file.name} names no cells, so there is nothing to draw its rows on")
    if any(not leaves_below([rule], found.column_cells) for rule in remove):
        raise InvalidInput("--remove names a cell of which the matrix reports nothing")
    gone = leaves_below(remove, found.column_cells)
    found = prune(found, gone, Rows.KEEP)  # type: ignore[type-var] # either of the two goes
    _save(picture_of_row(found, cell, dict.fromkeys(gone, "removed")), out)


@picture_app.command("removed")
def removed_picture(
    policy_file: Path = typer.Option(..., "--policy", help="The policy: TOML or the paper's way."),
    map_file: Path = typer.Option(..., "--map", help="The public map."),
    below: str | None = typer.Option(None, help="Only below this cell; else the first root."),
    offline: bool = typer.Option(False, "--offline", help="Ask no source over the network."),
    out: Path = Out,
) -> None:
    """Draw S: which cells a policy never reports, and why. It neither knows nor asks where you are.

    The reasons are the tooltips of .svg and .html, and the table of .html. They tell of your home
    and other places that you avoid: the picture is for your eyes.

    Example: [bold]geocorgi picture removed --policy policy.toml --map map.json --out s.html[/bold]
    """
    require_kind(out)
    public_map = read_map(map_file)
    policy = read_policy(policy_file, public_map)
    if policy.voids_geo_ind:
        raise InvalidInput(
            "a preference of this policy measures from where you are, so what it removes is not "
            "one picture: see geocorgi explain"
        )
    gather = gatherer(policy_file.parent, data_folder(), None, offline=offline)
    removal = removed_over_map(policy, public_map, gather(policy, public_map))
    tree = _tree_of(public_map, below)
    reasons = {leaf: "; ".join(removal.reasons(leaf)) for leaf in removal.removed}
    _save(picture_of_removal(tree, reasons), out)


def _tree_of(public_map: PublicMap, below: str | None) -> LocationTree:
    if below is None:
        return public_map.trees[0]
    for tree in public_map.trees:
        if tree.contains_cell(below):
            return tree.subtree(below)
    raise InvalidInput("--below names a cell that is not of the map")


@picture_app.command("circles")
def circles_picture(
    epsilon: float = typer.Option(..., help="The privacy budget per km."),
    accuracy_km: float = typer.Option(..., help="How far off reports are, in km."),
    root: str = Root,
    height: int = Height,
    out: Path = Out,
) -> None:
    """Draw what epsilon means on the ground: protected within, accurate to.

    Example: [bold]geocorgi picture circles --epsilon 5 --accuracy-km 0.18 --out circles.svg[/bold]
    """
    require_kind(out)
    _save(picture_of_protection(LocationTree(root, height), epsilon, accuracy_km), out)


def _save(picture: Picture, out: Path) -> None:
    picture.save(out)
    console.print(f"wrote {out.name}: {picture.drawing.title}, {picture.drawing.caption}")
