"""A map and forests in a folder, as geocorgi-server writes them."""

from __future__ import annotations

from pathlib import Path

from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import encode_map, map_id
from tests.device.forests import made, quick_forest
from tests.wire.maps import small_map

MAP = small_map()
ENTRIES = (
    CatalogueEntry(1, None, 0, Rows.KEEP, 5.0),
    CatalogueEntry(1, None, 2, Rows.KEEP, 5.0),
    CatalogueEntry(1, None, 2, Rows.DROP, 5.0),
    CatalogueEntry(2, None, 0, Rows.KEEP, 5.0),
    CatalogueEntry(2, "even", 0, Rows.KEEP, 5.0),
    CatalogueEntry(2, "even", 2, Rows.KEEP, 5.0),
)


def publish(folder: Path) -> Path:
    """Write the map and its forests; return the map's file."""
    for number, entry in enumerate(ENTRIES):
        content = made(quick_forest, MAP, request_for(map_id(MAP), entry))
        (folder / f"forest-{number}.safetensors").write_bytes(content)
    path = folder / "map.json"
    path.write_bytes(encode_map(MAP))
    return path
