"""Where everything lies: the same addresses below a service, a plain file server and a folder.

``docs/wire.md`` is the table of them.
"""

from __future__ import annotations

from geocorgi.wire.forest_request import require_digest

MAP_INDEX = "v1/map"


def map_address(map_id: str) -> str:
    """Return where a public map lies."""
    return f"{_map(map_id)}/map.json"


def pins_address(map_id: str) -> str:
    """Return where the pins of a map's whole catalogue lie, once all of it is published."""
    return f"{_map(map_id)}/pins.json"


def pin_address(map_id: str, request_id: str) -> str:
    """Return where the pin of one forest lies."""
    return f"{_forest(map_id, request_id)}/pin.json"


def forest_address(map_id: str, request_id: str, sha256: str) -> str:
    """Return where a forest lies."""
    return f"{_forest(map_id, request_id)}/{require_digest(sha256, 'sha256')}.safetensors"


def _map(map_id: str) -> str:
    return f"v1/maps/{require_digest(map_id, 'map_id')}"


def _forest(map_id: str, request_id: str) -> str:
    return f"{_map(map_id)}/forests/{require_digest(request_id, 'request_id')}"
