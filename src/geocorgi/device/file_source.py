"""Public maps and forests from files: what ``geocorgi-server`` writes, without any network.

A folder's forests are found by what they say that they are for; nothing else of it is believed,
and acceptance does not care where bytes come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geocorgi.errors import BadFile, InvalidForest, NotOffered
from geocorgi.matrix.forest_file import LARGEST_FILE_BYTES, claims_of
from geocorgi.wire.forest_request import ForestRequest
from geocorgi.wire.map_codec import MOST_BYTES

MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class MapFile:
    """A public map in a file."""

    path: Path

    def public_map(self) -> bytes:
        """Return the bytes of the map."""
        return _read(self.path, MOST_BYTES)


@dataclass(frozen=True, slots=True)
class ForestFiles:
    """A forest in a file, or many in a folder and the folders below it."""

    path: Path

    def forest(self, request: ForestRequest) -> bytes:
        """Return the bytes of the forest that says that it is for the request."""
        if self.path.is_file():
            return _read(self.path, LARGEST_FILE_BYTES)
        wanted = (request.map_id, request.privacy_level, request.filter, request.delta,
                  request.rows.value, request.epsilon_per_km)  # fmt: skip
        for path in self._files():
            try:
                claimed = claims_of(path)
            except (InvalidForest, BadFile):  # another file that lies there
                continue
            if claimed == wanted:
                return _read(path, LARGEST_FILE_BYTES)
        by = "no filter" if request.filter is None else f"the filter '{request.filter}'"
        raise NotOffered(
            f"{self.path.name} has no forest for the map at level {request.privacy_level}, delta "
            f"{request.delta}, rows {request.rows}, {request.epsilon_per_km:g} per km, {by}: "
            "generate it with geocorgi-server forest"
        )

    def _files(self) -> list[Path]:
        try:
            found = sorted(self.path.rglob("*.safetensors"))
        except OSError as refusal:
            raise BadFile(f"cannot read {self.path.name}: {refusal.strerror}") from refusal
        if not self.path.is_dir() or len(found) > MOST_FILES:
            raise BadFile(f"{self.path.name} is no file and no folder of at most {MOST_FILES:,}")
        return found


def _read(path: Path, most_bytes: int) -> bytes:
    try:
        if path.stat().st_size > most_bytes:
            raise BadFile(f"{path.name} is larger than the {most_bytes:,} bytes it may have")
        return path.read_bytes()
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
