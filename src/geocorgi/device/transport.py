"""What a device asks of the world: two questions, and bytes for an answer.

Whoever answers is not believed: a map is pinned by the digest of its bytes, a forest is used only
after :mod:`geocorgi.device.acceptance`. Both questions are the same wherever the user is.
"""

from __future__ import annotations

from typing import Protocol

from geocorgi.wire.forest_request import ForestRequest


class MapSource(Protocol):
    """Where the public map comes from."""

    def public_map(self) -> bytes:
        """Return the bytes of a public map (:mod:`geocorgi.wire.map_codec`)."""


class ForestSource(Protocol):
    """Where privacy forests come from."""

    def forest(self, request: ForestRequest) -> bytes:
        """Return the bytes of a forest (:mod:`geocorgi.matrix.forest_file`) for the request."""
