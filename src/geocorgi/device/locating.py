"""The doors through which the real location comes in: a stream, a file, words, or gpsd.

What is understood: ``LAT,LON`` or ``LAT LON`` in degrees, an H3 cell, or a GeoJSON point (which
says longitude first, and so is read). Whatever is refused is refused without being repeated, and
no error carries another one inside that would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import BadFile, InvalidInput, NotLocated
from geocorgi.tree.cells import is_cell

MOST_LETTERS = 10_000
POINT = re.compile(r"([+-]?[0-9]{1,3}(?:\.[0-9]*)?)(?:\s*,\s*|\s+)([+-]?[0-9]{1,3}(?:\.[0-9]*)?)")
EXPECTED = (
    "a real location is LAT,LON in degrees, an H3 cell, or a GeoJSON point; what came is none "
    "(and is not repeated here)"
)


def located(text: str) -> Whereabouts:
    """Return the location that a text says, or refuse without repeating it."""
    text = text.strip()
    if match := POINT.fullmatch(text):
        return Whereabouts((float(match[1]), float(match[2])))
    if is_cell(text):
        return Whereabouts(text)
    point = _geojson_point(text) if text.startswith("{") else None
    if point is None:
        raise InvalidInput(EXPECTED)
    return Whereabouts(point)


def located_in_words(words: Sequence[str]) -> Whereabouts:
    """Return the location that was given as arguments; others on this machine can see them."""
    return located(" ".join(words))


def located_in_stream(stream: IO[str]) -> Whereabouts:
    """Return the location in a stream: its first line, or GeoJSON to its end."""
    try:
        text = stream.readline(MOST_LETTERS)
        if text.lstrip().startswith("{"):
            text += stream.read(MOST_LETTERS)
    except UnicodeDecodeError:
        text = "undecodable"
    if not text.strip():
        raise NotLocated("no location came: expected one line, such as LAT,LON")
    return located(text)


def located_in_file(path: Path) -> Whereabouts:
    """Return the location in a file."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return located_in_stream(stream)
    except OSError as refusal:
        reason = refusal.strerror
    raise BadFile(f"cannot read {path.name}: {reason}")


def _geojson_point(text: str) -> tuple[float, float] | None:
    """Return latitude and longitude of a GeoJSON point or of a feature that is one."""
    try:
        found: Any = json.loads(text)
        geometry = found["geometry"] if found["type"] == "Feature" else found
        longitude, latitude = geometry["coordinates"][:2]
        is_point = geometry["type"] == "Point"
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    numbers = (latitude, longitude)
    good = is_point and all(isinstance(one, int | float) for one in numbers)
    return numbers if good else None
