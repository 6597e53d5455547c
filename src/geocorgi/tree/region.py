"""A region is covered by several location trees of one root resolution.

The region comes as GeoJSON (RFC 7946): a Polygon or MultiPolygon, bare, in a Feature, or several
in a FeatureCollection or GeometryCollection; an area across the antimeridian comes cut in two, as
the RFC asks. The trees are the ancestors of all *leaves* that overlap the region, so every point
of the region has its leaf in one of the trees. The roots that overlap the region would not do:
H3's children overhang their parents, so a point just inside the outline of one root may belong to
a leaf of another (tests/tree/test_region.py finds such points).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from geocorgi.errors import BadFile, InvalidRegion, InvalidTree
from geocorgi.tree import cells, distances
from geocorgi.tree.location_tree import LocationTree

LARGEST_FILE_BYTES = 20_000_000
MOST_LEAVES = 3_000_000
MOST_LEAVES_AROUND = 20 * MOST_LEAVES
MOST_NESTED = 8
Polygon = list[list[list[float]]]  # rings of positions, the first around, the others holes


def cover_region(
    geojson: dict[str, Any], root_resolution: int, leaf_resolution: int
) -> tuple[LocationTree, ...]:
    """Return the trees that cover the region, in ascending order of their roots."""
    cells.require_resolution(root_resolution)
    height = cells.require_resolution(leaf_resolution) - root_resolution
    if height < 0:
        raise InvalidTree("the leaf resolution is the larger number: leaves are finer than roots")
    leaves = leaves_of_region(geojson, leaf_resolution)
    roots = {cells.ancestor(leaf, root_resolution) for leaf in leaves}
    if not roots:
        raise InvalidRegion("the region has no area: expected a Polygon or a MultiPolygon")
    return tuple(LocationTree(root, height) for root in sorted(roots))


def leaves_of_region(
    geojson: dict[str, Any],
    leaf_resolution: int,
    contain: Literal["overlap", "center"] = "overlap",
) -> Iterator[str]:
    """Yield the cells that overlap the region, or those whose centre lies in it, maybe twice."""
    polygons = list(_polygons(geojson))
    about = sum(_about_leaves(polygon, leaf_resolution) for polygon in polygons)
    if about > MOST_LEAVES:
        raise InvalidRegion(
            f"the region has about {about:,.0f} leaves of resolution {leaf_resolution}, more than "
            f"{MOST_LEAVES:,}; choose coarser leaves or cover it in parts"
        )
    # The areas of a ring that crosses itself, and of holes outside of it, cancel out; boxes do not.
    if sum(_leaves_around(polygon, leaf_resolution) for polygon in polygons) > MOST_LEAVES_AROUND:
        raise InvalidRegion(
            f"the boxes around the region have more than {MOST_LEAVES_AROUND:,} leaves of "
            f"resolution {leaf_resolution}; choose coarser leaves or cover it in parts"
        )
    for polygon in polygons:
        geometry = {"type": "Polygon", "coordinates": polygon}
        yield from cells.cover(geometry, leaf_resolution, contain)


def read_region(path: Path) -> dict[str, Any]:
    """Return the GeoJSON object in the file."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise BadFile(f"{path.name} is larger than {LARGEST_FILE_BYTES:,} bytes; simplify it")
        geojson = json.loads(path.read_text(encoding="utf-8"))
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
    except (ValueError, RecursionError) as refusal:
        raise BadFile(f"{path.name} is not GeoJSON: it is not valid JSON in UTF-8") from refusal
    if not isinstance(geojson, dict):
        raise BadFile(f"{path.name} is not GeoJSON: expected an object with a 'type'")
    return geojson


def _about_leaves(rings: Polygon, resolution: int) -> float:
    """Return about how many leaves overlap the polygon: those inside and those on its outline."""
    longitudes, latitudes = (
        [np.array([position[axis] for position in ring], dtype=np.float64) for ring in rings]
        for axis in (0, 1)
    )
    outline_km = sum(
        float(distances.haversine_km(lat[:-1], lng[:-1], lat[1:], lng[1:]).sum())
        for lat, lng in zip(latitudes, longitudes, strict=True)
    )
    # Longitude by the sine of the latitude is a map that keeps areas: the shoelace formula on it.
    outer, *holes = (
        abs(float(np.sum(np.diff(np.radians(lng)) * (heights[:-1] + heights[1:])))) / 2
        for lng, heights in zip(longitudes, map(np.sin, map(np.radians, latitudes)), strict=True)
    )
    area_km2 = max(0.0, outer - sum(holes)) * distances.EARTH_RADIUS_KM**2
    spacing_km, leaf_km2 = cells.average_spacing_km(resolution), cells.average_area_km2(resolution)
    return area_km2 / leaf_km2 + outline_km / spacing_km


def _leaves_around(rings: Polygon, resolution: int) -> float:
    """Return about how many leaves the boxes around all rings have: never far fewer than inside."""
    found = 0.0
    for ring in rings:
        longitudes, latitudes = (np.radians([place[axis] for place in ring]) for axis in (0, 1))
        high = float(np.ptp(np.sin(latitudes)))
        found += float(np.ptp(longitudes)) * high * distances.EARTH_RADIUS_KM**2
    return found / cells.average_area_km2(resolution)


def _polygons(geojson: object, nested: int = 0) -> Iterator[Polygon]:
    """Yield every polygon of the GeoJSON object, as its rings."""
    if not isinstance(geojson, dict) or nested > MOST_NESTED:
        raise InvalidRegion("the region is not GeoJSON: expected an object with a 'type'")
    match geojson.get("type"):
        case "FeatureCollection" | "GeometryCollection" as kind:
            members = geojson.get("features" if kind == "FeatureCollection" else "geometries")
            if not isinstance(members, list):
                raise InvalidRegion(f"the GeoJSON {kind} has no list of members")
            for member in members:
                yield from _polygons(member, nested + 1)
        case "Feature":
            yield from _polygons(geojson.get("geometry"), nested + 1)
        case "Polygon" | "MultiPolygon" as kind:
            _require_rings(geojson.get("coordinates"), 2 if kind == "Polygon" else 3)
            coordinates = geojson["coordinates"]
            yield from [coordinates] if kind == "Polygon" else coordinates
        case kind:
            shown = kind if isinstance(kind, str) and len(kind) < 30 else "something else"
            raise InvalidRegion(f"a region is a Polygon or a MultiPolygon, not {shown}")


def _require_rings(coordinates: object, depth: int) -> None:
    """Refuse anything but lists (of lists…) of rings of positions on the globe."""
    if not isinstance(coordinates, list) or not coordinates:
        raise InvalidRegion("the region's coordinates are not a list of rings")
    if depth > 1:
        for part in coordinates:
            _require_rings(part, depth - 1)
        return
    for position in coordinates:
        if not (isinstance(position, list) and len(position) >= 2 and _on_globe(*position[:2])):
            raise InvalidRegion("a position is [longitude, latitude] in degrees, in this order")
    if len(coordinates) < 4 or coordinates[0][:2] != coordinates[-1][:2]:
        raise InvalidRegion("a ring has four or more positions and ends where it begins")
    # H3 takes such an edge to go the other way round the globe.
    if any(abs(one[0] - next_[0]) > 180 for one, next_ in itertools.pairwise(coordinates)):
        raise InvalidRegion(
            "an edge is longer than 180 degrees of longitude: cut an area that crosses the "
            "antimeridian in two there, and give an edge that is meant positions in between"
        )


def _on_globe(longitude: object, latitude: object) -> bool:
    return (
        isinstance(longitude, int | float)
        and isinstance(latitude, int | float)
        and -180 <= longitude <= 180
        and -90 <= latitude <= 90
    )
