"""The user's own places: cells of home, office, outliers and visits, in a file of her device.

They move only when the user updates them, never by where she is now: a home learned from the
present trace would move S with her. The file is for its owner alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geocorgi.device.attributes.habits import Habits
from geocorgi.device.attributes.values import Attributes, AttributeValues
from geocorgi.device.coverage import leaves_named
from geocorgi.device.units import Kind
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.files import write_atomically
from geocorgi.tree import cells

FORMAT = "geocorgi own places 1"
FILE = "places.json"
LARGEST_BYTES = 20_000_000
NAMES = ("home", "office", "outlier", "visited")


@dataclass(frozen=True, slots=True)
class OwnPlaces:
    """Cells of each kind, of whatever resolution; an empty tuple says that there is none."""

    home: tuple[str, ...] = field(default=(), repr=False)
    office: tuple[str, ...] = field(default=(), repr=False)
    outlier: tuple[str, ...] = field(default=(), repr=False)
    visited: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse what are no cells."""
        for name in NAMES:
            named = {cells.require_cell(cell) for cell in getattr(self, name)}
            object.__setattr__(self, name, tuple(sorted(named)))


def own_places(habits: Habits, visited: Iterable[str]) -> OwnPlaces:
    """Return what was inferred as the places of the file."""
    return OwnPlaces(
        (habits.home,) if habits.home else (),
        (habits.office,) if habits.office else (),
        habits.outliers,
        tuple(visited),
    )


def own_attributes(own: OwnPlaces, leaves: Sequence[str]) -> Attributes:
    """Return the user's own attributes of every leaf: true where a cell of hers is or touches."""
    found = {}
    for name in NAMES:
        true = leaves_named(getattr(own, name), leaves)
        found[name] = AttributeValues(Kind.BOOLEAN, {leaf: leaf in true for leaf in leaves})
    return found


def write_own_places(own: OwnPlaces, folder: Path) -> None:
    """Write the places into the device's folder, for its owner alone."""
    fields = {name: list(getattr(own, name)) for name in NAMES}
    content = json.dumps({"format": FORMAT} | fields, indent=1).encode("ascii")
    write_atomically(folder / FILE, content, private=True)


def forget_own_places(folder: Path) -> None:
    """Remove the file; preferences about own places then refuse."""
    try:
        (folder / FILE).unlink(missing_ok=True)
    except OSError as refusal:
        raise BadFile(f"cannot remove {FILE}: {refusal.strerror}") from None


def read_own_places(folder: Path) -> OwnPlaces | None:
    """Return the places of the device's folder; None where none were ever written."""
    path = folder / FILE
    try:
        if not path.exists():
            return None
        if path.stat().st_size > LARGEST_BYTES:
            raise BadFile(f"{FILE} is larger than {LARGEST_BYTES:,} bytes")
        found = json.loads(path.read_bytes())
    except OSError as refusal:
        raise BadFile(f"cannot read {FILE}: {refusal.strerror}") from None
    except (ValueError, RecursionError):
        found = None
    if not _is_ours(found):
        raise BadFile(f"{FILE} is damaged: run 'geocorgi policy places' again")
    try:
        return OwnPlaces(*(tuple(found[name]) for name in NAMES))
    except InvalidInput:
        raise BadFile(f"{FILE} is damaged: run 'geocorgi policy places' again") from None


def _is_ours(found: object) -> bool:
    return (
        isinstance(found, dict)
        and found.keys() == {"format", *NAMES}
        and found["format"] == FORMAT
        and all(isinstance(found[name], list) for name in NAMES)
    )
