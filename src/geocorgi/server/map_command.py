"""``geocorgi-server map``: the public map that everything else is about."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from geocorgi.checkins.readers import read_snap
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.files import write_atomically
from geocorgi.matrix.prunable import Rows
from geocorgi.server.catalogue import DELTAS, Offer, with_catalogue
from geocorgi.server.filters import filters_of
from geocorgi.server.popularity import COUNT, counted_leaves
from geocorgi.server.sharding import in_shards
from geocorgi.terminal import console, print_json
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, priors_from_counts, uniform_priors
from geocorgi.tree.priors_file import read_priors, read_weights
from geocorgi.tree.region import cover_region, read_region
from geocorgi.wire.map_codec import encode_map, map_id
from geocorgi.wire.public_map import PublicMap, Settings

EXAMPLE_ROOT = "86283082fffffff"  # central San Francisco, the paper's own tree
EPSILONS_PER_KM = (5.0, 15.0)


def map_command(
    out: Path = typer.Option(..., help="Write the map here, as JSON."),
    root: list[str] = typer.Option([], help="A root, an H3 cell; repeat it for several."),
    region: Path | None = typer.Option(None, help="Instead: cover this GeoJSON area."),
    height: int = typer.Option(3, help="Levels below the roots."),
    root_resolution: int = typer.Option(6, help="With --region: H3 resolution of the roots."),
    checkins: Path | None = typer.Option(None, help="Count these check-ins (SNAP): the priors."),
    prior: Path | None = typer.Option(None, help="Instead: CSV cell,weight with every leaf."),
    targets: Path | None = typer.Option(None, help="CSV cell,weight; else all leaves alike."),
    filter_: list[str] = typer.Option(
        [],
        "--filter",
        help="NAME=ATTRIBUTE>=NUMBER[,…]; or NAME=FILE, CSV cell,weight: above zero.",
    ),
    epsilon: list[float] = typer.Option(list(EPSILONS_PER_KM), help="Offer this budget per km."),
    level: list[int] = typer.Option([], help="Offer this privacy level; every one, if none."),
    delta: list[int] = typer.Option(list(DELTAS), help="Offer this many removed cells."),
    rows: list[Rows] = typer.Option(list(Rows), help="Offer this mode."),
    gap: float = typer.Option(1e-3, help="Stop each matrix this near its optimum."),
    work: int | None = typer.Option(None, help="Stop each matrix after so many pricing problems."),
    shards: bool = typer.Option(False, "--shards", help="One map for each root: OUT-ROOT.json."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Build the public map: trees, priors, filters, and the catalogue of what is offered.

    With neither check-ins nor priors every leaf is as likely as every other. Check-ins give the
    attributes checkins and popular_00 to popular_23 (by the hour there), for filters. Equal inputs
    give equal bytes; the map's name is their SHA-256.

    Example: [bold]geocorgi-server map --root 86283082fffffff --out map.json[/bold]

    Example: [bold]geocorgi-server map --region city.geojson --checkins all.txt.gz
    --filter 'popular=checkins>=10' --out map.json[/bold]
    """
    if not out.parent.is_dir():
        raise BadFile(f"cannot write {out.name}: its folder does not exist")
    if checkins is not None and prior is not None:
        raise InvalidInput("choose one of --checkins and --prior")
    trees = _trees(root, region, root_resolution, height)
    leaves = tuple(leaf for tree in trees for leaf in tree.leaves)
    known = _known(leaves, checkins, prior)
    found = filters_of(filter_, known.attributes, leaves)
    plain = PublicMap(
        roots=tuple(tree.root for tree in trees),
        height=height,
        priors=known.priors,
        settings=Settings(tuple(sorted(set(epsilon))), gap, work),
        targets=None if targets is None else _in_order(read_weights(targets)),
        attributes=found.attributes,
        filters=found.cells,
        predicates=found.predicates,
    )
    offer = Offer(sorted(set(level)) or range(1, height + 1), sorted(set(delta)), rows)
    answer = _written(plain, offer, out, shards) | known.notes
    if as_json:
        print_json(answer)
    else:
        _show(answer)


def _written(plain: PublicMap, offer: Offer, out: Path, shards: bool) -> dict[str, Any]:
    """Write the map, or each shard of it; return what there is to say."""
    if not shards:
        whole = with_catalogue(plain, offer)
        write_atomically(out, encode_map(whole))
        return _described(whole) | {"out": out.name}
    parts = in_shards(plain, offer)
    names = [f"{out.stem}-{part.roots[0]}{out.suffix}" for part in parts]
    for part, name in zip(parts, names, strict=True):
        write_atomically(out.with_name(name), encode_map(part))
    summed = {
        "map_id": ", ".join(map_id(part) for part in parts),
        "entries": sum(len(part.catalogue) for part in parts),
        "out": ", ".join(names),
    }
    return _described(replace(plain, catalogue=parts[0].catalogue)) | summed


def _trees(
    roots: list[str], region: Path | None, root_resolution: int, height: int
) -> tuple[LocationTree, ...]:
    if region is None:
        trees = {LocationTree(root, height) for root in roots or [EXAMPLE_ROOT]}
        return tuple(sorted(trees, key=lambda tree: tree.root))
    if roots:
        raise InvalidInput("choose one of --root and --region")
    return cover_region(read_region(region), root_resolution, root_resolution + height)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the leaves, and what to say of where it comes from."""

    priors: Priors
    attributes: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def _known(leaves: tuple[str, ...], checkins: Path | None, prior: Path | None) -> _Known:
    if checkins is not None:
        found = counted_leaves(read_snap(checkins), leaves)
        notes = {
            "checkins": found.inside,
            "checkins_outside": found.outside,
            "bad_rows": found.bad_rows,
        }
        priors = priors_from_counts(leaves, found.attributes[COUNT])
        return _Known(priors, found.attributes, notes)
    return _Known(uniform_priors(leaves) if prior is None else read_priors(prior, leaves))


def _in_order(priors: Priors) -> Priors:
    pairs = sorted(zip(priors.cells, priors.weights.tolist(), strict=True))
    return Priors(tuple(cell for cell, _ in pairs), np.array([weight for _, weight in pairs]))


def _described(public_map: PublicMap) -> dict[str, Any]:
    leaves = len(public_map.priors.cells)
    visited = int((public_map.priors.weights > 0).sum())
    return {
        "map_id": map_id(public_map),
        "roots": list(public_map.roots),
        "height": public_map.height,
        "leaf_resolution": public_map.leaf_resolution,
        "leaves": leaves,
        "leaves_with_weight": visited,
        "filters": {name: len(passing) for name, passing in public_map.filters.items()},
        "epsilons_per_km": list(public_map.settings.epsilons_per_km),
        "privacy_levels": sorted({entry.privacy_level for entry in public_map.catalogue}),
        "deltas": sorted({entry.delta for entry in public_map.catalogue}),
        "entries": len(public_map.catalogue),
    }


def _show(answer: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("map", answer["map_id"])
    table.add_row(
        "trees", f"{len(answer['roots'])} of height {answer['height']}, {answer['leaves']:,} leaves"
    )
    table.add_row("priors", f"{answer['leaves_with_weight']:,} leaves have weight")
    if "checkins" in answer:
        outside, bad = answer["checkins_outside"], answer["bad_rows"]
        counts = f"{answer['checkins']:,} inside, {outside:,} outside, {bad:,} bad rows"
        table.add_row("check-ins", counts)
    offered = ", ".join(map(str, answer["privacy_levels"]))
    deltas = ", ".join(map(str, answer["deltas"]))
    table.add_row("offered", f"{answer['entries']} forests: levels {offered}; deltas {deltas}")
    table.add_row("written", str(answer["out"]))
    console.print(table)
