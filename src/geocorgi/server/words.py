"""A catalogue entry in words, for people and logs: it is public, and who asked is not in it."""

from __future__ import annotations

from geocorgi.wire.forest_request import ForestRequest


def said(request: ForestRequest) -> str:
    """Return the entry in words."""
    return (
        f"level {request.privacy_level}, filter {request.filter or 'none'}, "
        f"delta {request.delta}, rows {request.rows.value}, epsilon {request.epsilon_per_km:g}/km"
    )
