"""The only door to H3.

H3 partitions the sphere into hexagons (and twelve pentagons a resolution) and gives every cell a
parent one resolution up. The hierarchy of *identifiers* is exact: every cell has one parent, and
the descendants of a cell are exactly the cells whose ancestor it is. The hierarchy of *shapes* is
only approximate: children overhang their parent's border, and for about one point in fourteen the
ancestor of the fine cell around it is not the coarse cell around it. So the leaf that contains a
point is asked for first and its ancestors are taken by identifier, never the coarse cell that
contains the point: only so is the location tree a partition (Paper: Def. 3.1).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import h3
import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidCell, InvalidInput, InvalidRegion

COARSEST_RESOLUTION = 0
FINEST_RESOLUTION = 15
SPELLING = re.compile("[0-9a-fA-F]{15}")  # H3 itself also reads '+86_2…' and ' 862…'


def require_cell(cell: str) -> str:
    """Return ``cell`` in its one canonical spelling, or refuse it."""
    if not isinstance(cell, str) or not SPELLING.fullmatch(cell) or not h3.is_valid_cell(cell):
        what = f"this text of length {len(cell)}" if isinstance(cell, str) else type(cell).__name__
        raise InvalidCell(
            f"{what} is not an H3 cell; expected 15 hexadecimal digits such as '86283082fffffff'"
        )
    return str(h3.int_to_str(h3.str_to_int(cell)))


def is_cell(name: str) -> bool:
    """Return whether ``name`` is an H3 cell."""
    return bool(SPELLING.fullmatch(name)) and bool(h3.is_valid_cell(name))


def require_resolution(resolution: int) -> int:
    """Return ``resolution`` if H3 has it, or refuse it."""
    if isinstance(resolution, bool) or not isinstance(resolution, int):
        raise InvalidInput(f"an H3 resolution is a whole number, not {resolution!r}")
    if not COARSEST_RESOLUTION <= resolution <= FINEST_RESOLUTION:
        raise InvalidInput(
            f"H3 has no resolution {resolution}; choose one from "
            f"{COARSEST_RESOLUTION} (about 1,200 km across) to {FINEST_RESOLUTION} (about 1 m)"
        )
    return resolution


def require_point(latitude: float, longitude: float) -> tuple[float, float]:
    """Return the point as floats, or refuse it (without repeating it: it may be private)."""
    try:
        point = float(latitude), float(longitude)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("a point is two numbers: latitude and longitude in degrees") from None
    if not (-90.0 <= point[0] <= 90.0 and -180.0 <= point[1] <= 180.0):
        raise InvalidInput(
            "the point is not on the globe: latitude runs from -90 to 90, longitude from -180 to "
            "180 (were the two swapped?)"
        )
    return point


def cell_at(latitude: float, longitude: float, resolution: int) -> str:
    """Return the cell of ``resolution`` that contains the point."""
    latitude, longitude = require_point(latitude, longitude)
    return str(h3.latlng_to_cell(latitude, longitude, require_resolution(resolution)))


def cells_at(
    latitudes: NDArray[np.float64], longitudes: NDArray[np.float64], resolution: int
) -> list[str]:
    """Return the cell of ``resolution`` of each point, for many points."""
    if latitudes.shape != longitudes.shape:
        raise InvalidInput("points need as many latitudes as longitudes")
    # NaN compares false, so this refuses it too.
    if not ((np.abs(latitudes) <= 90.0) & (np.abs(longitudes) <= 180.0)).all():
        raise InvalidInput("some point is not on the globe (were latitude and longitude swapped?)")
    finest = itertools.repeat(require_resolution(resolution))
    return list(map(h3.latlng_to_cell, latitudes.tolist(), longitudes.tolist(), finest))


def resolution_of(cell: str) -> int:
    """Return the resolution of ``cell``."""
    return int(h3.get_resolution(require_cell(cell)))


def ancestor(cell: str, resolution: int) -> str:
    """Return the one cell of the coarser ``resolution`` that ``cell`` descends from."""
    if require_resolution(resolution) > resolution_of(cell):
        raise InvalidCell(
            f"the cell has resolution {resolution_of(cell)}: "
            f"its ancestors are coarser than that, not of resolution {resolution}"
        )
    return str(h3.cell_to_parent(cell, resolution))


def descendants(cell: str, resolution: int) -> tuple[str, ...]:
    """Return the descendants of ``cell`` at the finer ``resolution``, in H3's child order.

    H3's child order is ascending order of the cell index, which is also depth-first order.
    """
    _require_finer(cell, resolution)
    return tuple(sorted(h3.cell_to_children(cell, resolution)))


def descendant_count(cell: str, resolution: int) -> int:
    """Return how many descendants there are, without listing them."""
    _require_finer(cell, resolution)
    return int(h3.cell_to_children_size(cell, resolution))


def is_pentagon(cell: str) -> bool:
    """Return whether ``cell`` is one of the twelve pentagons of its resolution."""
    return bool(h3.is_pentagon(require_cell(cell)))


def centre(cell: str) -> tuple[float, float]:
    """Return the centre of ``cell`` as latitude and longitude in degrees."""
    latitude, longitude = h3.cell_to_latlng(require_cell(cell))
    return float(latitude), float(longitude)


def centres(cells: Iterable[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the centres of ``cells`` as two arrays, latitudes and longitudes, in degrees."""
    points = np.array([centre(cell) for cell in cells], dtype=np.float64).reshape(-1, 2)
    return points[:, 0].copy(), points[:, 1].copy()


def boundary(cell: str) -> tuple[tuple[float, float], ...]:
    """Return the corners of ``cell``, each as latitude and longitude in degrees."""
    return tuple((float(lat), float(lng)) for lat, lng in h3.cell_to_boundary(require_cell(cell)))


def area_km2(cell: str) -> float:
    """Return the area of ``cell`` in square kilometres (on H3's own sphere of 6371.007 km)."""
    return float(h3.cell_area(require_cell(cell), unit="km^2"))


def average_area_km2(resolution: int) -> float:
    """Return the world-wide average area of the hexagons of ``resolution``."""
    return float(h3.average_hexagon_area(require_resolution(resolution), unit="km^2"))


def average_spacing_km(resolution: int) -> float:
    """Return the world-wide average distance between neighbouring centres: √3 edges."""
    edge = h3.average_hexagon_edge_length(require_resolution(resolution), unit="km")
    return math.sqrt(3) * float(edge)


def neighbours(cell: str) -> tuple[str, ...]:
    """Return the cells that share an edge with ``cell``: six, or five around a pentagon."""
    cell = require_cell(cell)
    return tuple(sorted(set(h3.grid_disk(cell, 1)) - {cell}))


def cover(
    geojson_geometry: dict[str, Any],
    resolution: int,
    contain: Literal["overlap", "center"] = "overlap",
) -> tuple[str, ...]:
    """Return, ascending, the cells that overlap the geometry or have their centre in it."""
    try:
        shape = h3.geo_to_h3shape(geojson_geometry)
        cells: Sequence[str] = h3.h3shape_to_cells_experimental(
            shape, require_resolution(resolution), contain=contain
        )
    except InvalidInput:
        raise
    except Exception as refusal:  # h3 raises a dozen kinds, down to a bare ValueError
        raise InvalidRegion(f"H3 cannot cover this region: {type(refusal).__name__}") from refusal
    return tuple(sorted(cells))


def _require_finer(cell: str, resolution: int) -> None:
    if require_resolution(resolution) < resolution_of(cell):
        raise InvalidCell(
            f"the cell has resolution {resolution_of(cell)}: "
            f"its descendants are finer than that, not of resolution {resolution}"
        )
