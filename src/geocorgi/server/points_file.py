"""A plain list of places as a CSV file with the header ``id,lat,lon,weight``."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.matrix.geo_ind import MOST_CELLS
from geocorgi.tree.cells import require_point

HEADER = ["id", "lat", "lon", "weight"]
LONGEST_LINE = 400


@dataclass(frozen=True, slots=True, eq=False)
class PointsInFile:
    """Places with their weights, in the file's order."""

    names: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    weights: NDArray[np.float64]


def read_points(path: Path) -> PointsInFile:
    """Return the places in the file; a bad line is refused by its number."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = iter(lambda: file.readline(LONGEST_LINE), "")
            rows = list(islice(filter(None, csv.reader(lines, strict=True)), MOST_CELLS + 2))
    except (UnicodeDecodeError, csv.Error) as damage:
        raise BadFile(f"{path.name} is not a CSV file in UTF-8") from damage
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
    if not rows or [field.strip() for field in rows[0]] != HEADER:
        raise BadFile(f"{path.name}, line 1: expected the header {','.join(HEADER)}")
    if not 2 <= len(rows) - 1 <= MOST_CELLS:
        raise BadFile(f"{path.name} is to have from 2 to {MOST_CELLS:,} places")
    places = [_place(path.name, number, row) for number, row in enumerate(rows[1:], 2)]
    names, points, weights = zip(*places, strict=True)
    if len(set(names)) != len(names):
        raise BadFile(f"{path.name} has an id twice")
    return PointsInFile(names, points, np.array(weights))


def _place(name: str, number: int, row: list[str]) -> tuple[str, tuple[float, float], float]:
    try:
        identifier, latitude, longitude, weight = (field.strip() for field in row)
        point = require_point(float(latitude), float(longitude))
        share = float(weight)
    except InvalidInput as refusal:
        raise BadFile(f"{name}, line {number}: {refusal}") from refusal
    except ValueError:
        raise BadFile(f"{name}, line {number}: expected id,lat,lon,weight") from None
    if not (identifier and math.isfinite(share) and share >= 0):
        raise BadFile(f"{name}, line {number}: a weight is a finite number, zero or more")
    return identifier, point, share
