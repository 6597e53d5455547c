"""A JSON Schema for each message, for programs that are not this one.

A schema says less than the codec: not the order, not the canonical form, not what fits what.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from geocorgi.errors import InvalidInput

MESSAGES = (
    "build-progress",
    "forest-pin",
    "forest-pins",
    "forest-request",
    "map-index",
    "public-map",
    "refusal",
)


def schema(message: str) -> dict[str, Any]:
    """Return the schema of a message."""
    if message not in MESSAGES:
        raise InvalidInput(f"there are schemas of {', '.join(MESSAGES)}")
    text = (files(__name__) / f"{message}.json").read_text(encoding="ascii")
    found: dict[str, Any] = json.loads(text)
    return found
