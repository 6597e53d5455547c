"""The only door to resvg: a drawing as PNG, without a browser and without a screen."""

from __future__ import annotations

from geocorgi.errors import MissingExtra
from geocorgi.pictures.drawing import Drawing
from geocorgi.pictures.svg import svg

try:
    import resvg_py
except ModuleNotFoundError as missing:
    if missing.name != "resvg_py":
        raise
    raise MissingExtra(
        "a PNG needs resvg-py: pip install 'geocorgi[app]', or write .svg or .html"
    ) from missing


def png(drawing: Drawing, zoom: float = 2.0) -> bytes:
    """Return the drawing as a PNG file, ``zoom`` times the size of its SVG."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg(drawing), zoom=zoom))
