"""``geocorgi tree``: what a location tree looks like, before anything depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from geocorgi.cli.hex_map import can_be_mapped, tree_map
from geocorgi.errors import InvalidInput
from geocorgi.terminal import console, print_json
from geocorgi.tree import cells, distances
from geocorgi.tree.location_tree import LocationTree, tree_around
from geocorgi.tree.region import cover_region, read_region

EXAMPLE_ROOT = "86283082fffffff"  # central San Francisco, the paper's own tree
MOST_MEASURED = 2_401


def tree_command(
    root: str | None = typer.Option(
        None, help="Grow from this H3 cell; if none is named, San Francisco's."
    ),
    at: str | None = typer.Option(None, help="Grow around this public point: LAT,LON in degrees."),
    region: Path | None = typer.Option(None, help="Cover this GeoJSON area with several trees."),
    height: int = typer.Option(3, help="Levels below the root."),
    root_resolution: int = typer.Option(6, help="With --at or --region: H3 resolution of roots."),
    list_level: int | None = typer.Option(None, "--list", help="List the cells of this level."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Show a location tree: its levels, how many cells they have, how large these are.

    Example: [bold]geocorgi tree --root 86283082fffffff --height 3[/bold]

    Example: [bold]geocorgi tree --at 37.77,-122.42 --root-resolution 7 --height 2 --json[/bold]
    """
    trees = _trees(root, at, region, root_resolution, height)
    if list_level is not None:
        cells_listed = [cell for tree in trees for cell in tree.nodes(list_level)]
        _list(list_level, cells_listed, as_json=as_json)
    elif as_json:
        print_json(
            {"distance": distances.DEFINITION, "trees": [_described(tree) for tree in trees]}
        )
    else:
        _show(trees)


def _trees(
    root: str | None, at: str | None, region: Path | None, root_resolution: int, height: int
) -> tuple[LocationTree, ...]:
    if sum(source is not None for source in (root, at, region)) > 1:
        raise InvalidInput("choose one of --root, --at and --region")
    if region is not None:
        return cover_region(read_region(region), root_resolution, root_resolution + height)
    if at is not None:
        return (tree_around(*_point(at), root_resolution, root_resolution + height),)
    return (LocationTree(EXAMPLE_ROOT if root is None else root, height),)


def _point(text: str) -> tuple[float, float]:
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput("--at takes LAT,LON in degrees, such as --at 37.77,-122.42") from None
    return cells.require_point(latitude, longitude)


def _described(tree: LocationTree) -> dict[str, Any]:
    return {
        "root": tree.root,
        "height": tree.height,
        "leaves": tree.count(0),
        "pentagon_root": cells.is_pentagon(tree.root),
        "levels": [_level(tree, level) for level in range(tree.height, -1, -1)],
    }


def _level(tree: LocationTree, level: int) -> dict[str, Any]:
    """Describe one level; where it has very many cells, by H3's world-wide averages."""
    resolution, count = tree.resolution(level), tree.count(level)
    area = cells.average_area_km2(resolution)
    spacing = cells.average_spacing_km(resolution)
    if count <= MOST_MEASURED:
        nodes = tree.nodes(level)
        area = sum(map(cells.area_km2, nodes)) / count
        spacing = float(distances.nearest_km(nodes).mean()) if count > 1 else spacing
    return {
        "level": level,
        "resolution": resolution,
        "cells": count,
        "mean_area_km2": area,
        "mean_spacing_km": spacing,
        "measured": count <= MOST_MEASURED,
    }


def _list(level: int, names: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"level": level, "cells": names})
    else:
        for name in names:
            typer.echo(name)


def _show(trees: tuple[LocationTree, ...]) -> None:
    for tree in trees[:5]:
        pentagon = " (a pentagon: five sides, six children)" if cells.is_pentagon(tree.root) else ""
        table = Table(title=f"Location tree below {tree.root}{pentagon}", title_justify="left")
        for heading in ("level", "H3 resolution", "cells", "mean area", "mean spacing"):
            table.add_column(heading, justify="right")
        for level in _described(tree)["levels"]:
            about = "" if level["measured"] else "~"
            table.add_row(
                str(level["level"]),
                str(level["resolution"]),
                f"{level['cells']:,}",
                f"{about}{level['mean_area_km2']:,.6g} km²",
                f"{about}{level['mean_spacing_km'] * 1000:,.0f} m",
            )
        console.print(table)
    if len(trees) == 1 and can_be_mapped(trees[0]):
        console.print(tree_map(trees[0]))
        console.print("[dim]one shade: leaves below one cell of level 1[/dim]")
    if len(trees) > 5:
        console.print(f"… and {len(trees) - 5} more trees of the same shape (all with --json)")
    console.print(f"Distances: {distances.DEFINITION}.")
