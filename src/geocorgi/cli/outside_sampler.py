"""The door to samplers of other people: any Python function that reports a place for a place.

``function(latitude, longitude)`` returns a latitude and a longitude; ``function(cell)`` returns an
H3 cell. With one parameter more, the number of draws, it returns that many at once, which is quick.
Naming a function runs its module.
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from geocorgi.errors import GeocorgiError, InvalidInput
from geocorgi.matrix.black_box import Points, Sampler, TriedPlace
from geocorgi.tree import cells, distances

# How far opposite places of the cross are apart, in 1 / epsilon: two cells of noise and a half.
SPREAD = 3.0


def function_named(name: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names; modules here in the folder are found."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InvalidInput(f"a sampler is named module:function, such as mine:report, not {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as refusal:
        raise InvalidInput(f"no sampler {name!r} can be imported: {refusal}") from refusal
    if not callable(found):
        raise InvalidInput(f"{name!r} is not a function")
    return found  # type: ignore[no-any-return]


def cross_around(latitude: float, longitude: float, epsilon_per_km: float) -> list[TriedPlace]:
    """Return four places north, east, south and west of a point, where axes come apart."""
    cells.require_point(latitude, longitude)
    up = math.degrees(SPREAD / (2 * epsilon_per_km) / distances.EARTH_RADIUS_KM)
    if abs(latitude) + up > 89:
        raise InvalidInput("the test places would reach a pole: give a point farther from it")
    right = up / math.cos(math.radians(latitude))
    return [
        TriedPlace("north", latitude + up, longitude),
        TriedPlace("east", latitude, _round_the_globe(longitude + right)),
        TriedPlace("south", latitude - up, longitude),
        TriedPlace("west", latitude, _round_the_globe(longitude - right)),
    ]


def children_of(cell: str) -> list[TriedPlace]:
    """Return the centres of a cell's children, under the children's names."""
    finer = cells.resolution_of(cells.require_cell(cell)) + 1
    children = cells.descendants(cell, cells.require_resolution(finer))
    return [TriedPlace(child, *cells.centre(child)) for child in children]


def sampler_of(function: Callable[..., Any], *, of_cells: bool) -> Sampler:
    """Return the function as a sampler of points."""
    own = 1 if of_cells else 2
    many = _parameters(function) == own + 1

    def sampler(place: TriedPlace, count: int) -> Points:
        given = (place.name,) if of_cells else (place.latitude, place.longitude)
        try:
            if many:
                return _as_points(function(*given, count), of_cells=of_cells)
            return _as_points([function(*given) for _ in range(count)], of_cells=of_cells)
        except GeocorgiError:
            raise
        except Exception as failure:  # whatever somebody else's code may raise
            raise InvalidInput(
                f"the sampler failed with {type(failure).__name__}; call it once by hand"
            ) from failure

    return sampler


def _parameters(function: Callable[..., Any]) -> int:
    """Return how many parameters must be given."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions do not say
        return 2
    return sum(
        parameter.default is parameter.empty
        and parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
        for parameter in signature.parameters.values()
    )


def _as_points(reports: Any, *, of_cells: bool) -> Points:
    if not of_cells:
        return np.asarray(reports, dtype=np.float64)
    names = list(reports)
    different = {name: cells.centre(cells.require_cell(name)) for name in set(names)}
    return np.array([different[name] for name in names], dtype=np.float64)


def _round_the_globe(longitude: float) -> float:
    return (longitude + 180.0) % 360.0 - 180.0
