"""What may lie under the cells: tiles from the user's own MBTiles file, or from an address.

By default there is nothing. A file's tiles are handed to the page as they are, so that no address
names a place. An address is asked by the browser for the tiles around what the map shows, and so
whoever runs it learns that: it is used only if it was named, and the page says so.
"""

from __future__ import annotations

import base64
import math
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.tree import cells

WARNING = (
    "the map's background is asked for over the network: whoever serves it learns which area you "
    "look at, and when. A file with --mbtiles tells nobody."
)
MOST_TILES = 30
DEEPEST = 19
KINDS = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


@dataclass(frozen=True, slots=True)
class Tile:
    """A picture of a piece of ground, and its corners in degrees."""

    href: str
    north_west: tuple[float, float]
    south_east: tuple[float, float]


class Backdrop(Protocol):
    """Knows the pictures under a piece of ground."""

    def tiles(self, shown: Sequence[str]) -> tuple[Tile, ...]:
        """Return what lies under the cells."""


@dataclass(frozen=True, slots=True)
class TileAddress:
    """Tiles from somebody's server, such as https://tiles.example/{z}/{x}/{y}.png."""

    template: str

    def __post_init__(self) -> None:
        """Refuse what is no address of tiles."""
        parts = urlsplit(self.template)
        places = set(re.findall(r"\{(\w+)\}", self.template))
        if parts.scheme not in {"https", "http"} or not parts.hostname or places != {"z", "x", "y"}:
            raise InvalidInput("an address of tiles is like https://tiles.example/{z}/{x}/{y}.png")
        if re.search(r"[\s;,'\"]", self.template):
            raise InvalidInput("an address of tiles has no blanks, commas, semicolons or quotes")

    @property
    def origin(self) -> str:
        """Whom a browser has to be allowed to ask."""
        parts = urlsplit(self.template)
        return f"{parts.scheme}://{parts.netloc}"

    def tiles(self, shown: Sequence[str]) -> tuple[Tile, ...]:
        """Return the tiles under the cells, by their addresses."""
        found = []
        for z, x, y in _numbers(shown, DEEPEST):
            href = self.template.format(z=z, x=x, y=y)
            found.append(Tile(href, _corner(z, x, y), _corner(z, x + 1, y + 1)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class TileFile:
    """Tiles in an MBTiles file (raster tiles in SQLite, rows counted from the south)."""

    path: Path

    def __post_init__(self) -> None:
        """Refuse a file without pictures."""
        self._deepest()

    def tiles(self, shown: Sequence[str]) -> tuple[Tile, ...]:
        """Return the tiles under the cells, as they are in the file."""
        found = []
        for z, x, y in _numbers(shown, self._deepest()):
            rows = self._rows(
                "SELECT tile_data FROM tiles WHERE zoom_level=? AND tile_column=? AND tile_row=?",
                (z, x, 2**z - 1 - y),
            )
            if rows and (href := _as_data(rows[0][0])):
                found.append(Tile(href, _corner(z, x, y), _corner(z, x + 1, y + 1)))
        return tuple(found)

    def _deepest(self) -> int:
        found = self._rows("SELECT max(zoom_level) FROM tiles", ())[0][0]
        return min(found, DEEPEST) if isinstance(found, int) else 0

    def _rows(self, question: str, values: tuple[int, ...]) -> list[tuple[object, ...]]:
        try:
            held = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
            try:
                return held.execute(question, values).fetchall()
            finally:
                held.close()
        except sqlite3.Error:
            raise BadFile(f"{self.path.name} is no MBTiles file with raster tiles") from None


def _numbers(shown: Sequence[str], deepest: int) -> Iterator[tuple[int, int, int]]:
    """Yield zoom, column and row of the finest few tiles that cover the cells' corners."""
    corners = [corner for cell in shown for corner in cells.boundary(cell)]
    for zoom in range(deepest, -1, -1):
        columns, rows = zip(*(_position(zoom, *corner) for corner in corners), strict=True)
        wide = range(min(columns), max(columns) + 1)
        high = range(min(rows), max(rows) + 1)
        if len(wide) * len(high) <= MOST_TILES:
            yield from ((zoom, x, y) for x in wide for y in high)
            return


def _position(zoom: int, latitude: float, longitude: float) -> tuple[int, int]:
    bounded = math.radians(max(-85.05, min(85.05, latitude)))
    across = (longitude + 180) / 360
    down = (1 - math.asinh(math.tan(bounded)) / math.pi) / 2
    last = 2**zoom - 1
    return min(int(across * 2**zoom), last), min(max(int(down * 2**zoom), 0), last)


def _corner(zoom: int, x: int, y: int) -> tuple[float, float]:
    latitude = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / 2**zoom))))
    return latitude, x / 2**zoom * 360 - 180


def _as_data(content: object) -> str | None:
    """Return a picture as an address that holds it; None where it is no picture."""
    if not isinstance(content, bytes):
        return None
    kind = next((kind for start, kind in KINDS.items() if content.startswith(start)), None)
    return kind and f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
