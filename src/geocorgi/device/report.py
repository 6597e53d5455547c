"""The report: all that a user tells the world, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geocorgi.tree import cells


@dataclass(frozen=True, slots=True)
class Report:
    """A cell, at which level of which map."""

    map_id: str
    cell: str
    level: int

    @property
    def centre(self) -> tuple[float, float]:
        """The latitude and longitude of the cell's centre, in degrees."""
        return cells.centre(self.cell)


def report_fields(report: Report) -> dict[str, Any]:
    """Return the report as JSON has it."""
    latitude, longitude = report.centre
    return {
        "cell": report.cell,
        "latitude": latitude,
        "level": report.level,
        "longitude": longitude,
        "map_id": report.map_id,
    }


def geojson(report: Report) -> dict[str, Any]:
    """Return the report as a GeoJSON feature: the cell's outline."""
    corners = [[longitude, latitude] for latitude, longitude in cells.boundary(report.cell)]
    return {
        "type": "Feature",
        "id": report.cell,
        "geometry": {"type": "Polygon", "coordinates": [[*corners, corners[0]]]},
        "properties": report_fields(report),
    }
