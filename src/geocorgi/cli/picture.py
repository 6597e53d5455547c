"""``geocorgi picture``: what people would rather look at, as .svg, .png or .html."""

from __future__ import annotations

from pathlib import Path

import typer

from geocorgi.errors import BadFile
from geocorgi.matrix.matrix_file import read_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.pictures.picture import Picture, require_kind
from geocorgi.pictures.subjects import (
    picture_of_priors,
    picture_of_protection,
    picture_of_row,
    picture_of_tree,
)
from geocorgi.terminal import console
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors_file import read_weights

EXAMPLE_ROOT = "872830828ffffff"

picture_app = typer.Typer(
    help="Draw a tree, a prior, a matrix's row or a protection, as .svg, .png or .html.",
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
    out: Path = Out,
) -> None:
    """Draw where a report from a cell may fall, and how often.

    Example: [bold]geocorgi picture row matrix.safetensors --cell 892830828c7ffff --out r.svg[/bold]
    """
    require_kind(out)
    found = read_matrix(file).matrix
    if not isinstance(found, ObfuscationMatrix | SealedMatrix):
        raise BadFile(f"{file.name} names no cells, so there is nothing to draw its rows on")
    _save(picture_of_row(found, cell), out)


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
