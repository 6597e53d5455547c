"""A drawing that shows itself: in a notebook by being the last line of a cell, or in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.pictures.drawing import Drawing
from geocorgi.pictures.page import page
from geocorgi.pictures.svg import svg

KINDS = (".svg", ".png", ".html")


@dataclass(frozen=True, slots=True)
class Picture:
    """One drawing, ready to be looked at."""

    drawing: Drawing

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return svg(self.drawing)

    def save(self, path: Path) -> None:
        """Write the picture as the file's ending says: .svg, .png or .html."""
        write_atomically(path, _content(self.drawing, require_kind(path)))


def require_kind(path: Path) -> str:
    """Return the ending of a file that a picture can be written to, or refuse it."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise BadFile(f"a picture is written as {', '.join(KINDS)}, not as '{path.suffix}'")
    return kind


def _content(drawing: Drawing, kind: str) -> bytes:
    if kind == ".png":
        from geocorgi.pictures.png import png  # noqa: PLC0415 - an extra that only this needs

        return png(drawing)
    return (page(drawing) if kind == ".html" else svg(drawing)).encode()
