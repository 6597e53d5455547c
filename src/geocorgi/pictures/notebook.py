"""Trees, priors and matrices that draw themselves in a notebook.

    %load_ext geocorgi.pictures.notebook

From then on such a value on the last line of a cell is shown as its picture. The values
themselves know nothing of pictures: the notebook is told how to look at them. What is too large to
draw, or has no cells to draw on, is shown as text like before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geocorgi.errors import GeocorgiError
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.pictures.picture import Picture
from geocorgi.pictures.plane import plane_around
from geocorgi.pictures.subjects import picture_of_priors, picture_of_row, picture_of_tree
from geocorgi.pictures.svg import svg
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors

SVG = "image/svg+xml"


def load_ipython_extension(notebook: Any) -> None:
    """Tell the notebook how these values are looked at; ``%load_ext`` calls this."""
    formatter = notebook.display_formatter.formatters[SVG]
    for kind, draw in DRAWN.items():
        formatter.for_type(kind, _drawn(draw))


def unload_ipython_extension(notebook: Any) -> None:
    """Undo it; ``%unload_ext`` calls this."""
    formatter = notebook.display_formatter.formatters[SVG]
    for kind in DRAWN:
        formatter.pop(kind, None)


def picture_of_middle_row(matrix: ObfuscationMatrix | SealedMatrix) -> Picture:
    """Show one row of a matrix, that of the cell nearest to the middle of its real cells."""
    plane = plane_around(matrix.row_cells)
    away = (plane.km([cells.centre(cell) for cell in matrix.row_cells]) ** 2).sum(axis=1)
    return picture_of_row(matrix, matrix.row_cells[int(away.argmin())])


def _drawn(draw: Callable[[Any], Picture]) -> Callable[[Any], str | None]:
    def shown(value: Any) -> str | None:
        try:
            return svg(draw(value).drawing)
        except GeocorgiError:
            return None  # the notebook then shows the value's text

    return shown


DRAWN: dict[type, Callable[[Any], Picture]] = {
    LocationTree: picture_of_tree,
    Priors: picture_of_priors,
    ObfuscationMatrix: picture_of_middle_row,
    SealedMatrix: picture_of_middle_row,
}
