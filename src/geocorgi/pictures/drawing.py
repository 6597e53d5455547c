"""What is to be seen, as pure data: how it is drawn is another module's affair."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from geocorgi.errors import InvalidInput
from geocorgi.tree import cells


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle on the ground; ``dashed`` tells two of them apart without colour."""

    centre: tuple[float, float]
    radius_km: float
    label: str
    dashed: bool = False

    def __post_init__(self) -> None:
        cells.require_point(*self.centre)
        if not (math.isfinite(self.radius_km) and self.radius_km > 0):
            raise InvalidInput("a circle's radius is a positive number of km")


@dataclass(frozen=True, slots=True)
class Drawing:
    """Cells, drawn stronger where their share is larger, and what is marked among them.

    ``shares`` are None where there is nothing to compare; ``shares_are`` says of what they are.
    ``outlined`` are coarser cells: a line is drawn around those of the cells that are below each.
    ``crossed`` cells are struck out, each with what its tooltip says, and ``crossed_are`` says what
    that means; ``marked`` cells carry a short text.
    """

    title: str
    caption: str
    cells: tuple[str, ...]
    shares: Mapping[str, float] | None = None
    outlined: tuple[str, ...] = ()
    crossed: Mapping[str, str] = field(default_factory=dict)
    marked: Mapping[str, str] = field(default_factory=dict)
    circles: tuple[Circle, ...] = ()
    shares_are: str = "share"
    crossed_are: str = "never reported"

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if not self.cells:
            raise InvalidInput("a picture shows one cell or more")
        for cell in (*self.cells, *self.outlined):
            cells.require_cell(cell)
        unknown = (set(self.crossed) | set(self.marked) | set(self.shares or ())) - set(self.cells)
        if unknown:
            raise InvalidInput("the picture is to mark a cell that it does not show")

    @property
    def largest(self) -> float:
        """The largest share, for the scale; 1 where all are zero or there are none."""
        return max((self.shares or {}).values(), default=0.0) or 1.0
