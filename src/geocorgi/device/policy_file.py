"""A policy as a TOML file: read strictly, every refusal with its line.

What stands where is in ``docs/reference/policy-file.md``. Paths of tables and of drawn areas are
taken from the file's own folder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from geocorgi.device.areas import Area, Around, ListedCells, Place, Polygon
from geocorgi.device.notation import (
    Manner,
    is_notation,
    parse_notation,
    parse_preference,
    parse_preferences,
)
from geocorgi.device.policy import (
    WORDS,
    AtCeiling,
    Budget,
    Policy,
    Protection,
    Recipient,
    require_levels,
)
from geocorgi.device.preferences import Preference, Unknown, refused_at
from geocorgi.device.sources import TIME_OUT, TIME_TO_LIVE, Source
from geocorgi.device.toml_lines import lines_of
from geocorgi.device.toml_table import Table, named_line
from geocorgi.device.units import Kind
from geocorgi.device.variables import require_types
from geocorgi.errors import BadFile
from geocorgi.wire.public_map import PublicMap

LARGEST_BYTES = 2_000_000
KEYS = (
    "privacy_level", "precision_level", "preferences", *WORDS, "decoys", "private", "protection",
    "budget", "recipient", "black_list", "white_list", "place", "source",
)  # fmt: skip
Value = TypeVar("Value")


def read_policy(path: Path, public_map: PublicMap | None = None) -> Policy:
    """Return the policy in a file, TOML or the paper's notation, its preferences typed."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise BadFile(f"{path.name} is larger than any policy: {LARGEST_BYTES:,} bytes")
        text = path.read_bytes().decode("utf-8")
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
    except UnicodeDecodeError:
        raise BadFile(f"{path.name} is not text in UTF-8") from None
    return parse_policy(text, path.parent, public_map)


def parse_policy(
    text: str, folder: Path | None = None, public_map: PublicMap | None = None
) -> Policy:
    """Return the policy that the text states; variables may also be the map's."""
    policy = parse_notation(text) if is_notation(text) else _parsed(text, folder)
    require_types(policy, public_map)
    return policy


def _parsed(text: str, folder: Path | None) -> Policy:
    try:
        fields = tomllib.loads(text)
        top = Table(fields, lines_of(text), ())
    except tomllib.TOMLDecodeError as refusal:
        found = re.search(r"at line (\d+), column (\d+)", str(refusal))
        line = int(found[1]) if found else 1 + text.count("\n")
        column = f" from column {found[2]} on" if found else ""
        raise refused_at(line, f"this is not TOML{column}") from None
    except RecursionError:
        raise refused_at(None, "the policy is nested too deep") from None
    top.require_known(KEYS)
    privacy_level, precision_level = top.whole("privacy_level"), top.whole("precision_level", 0)
    with named_line(top.line("precision_level")):
        require_levels(privacy_level, precision_level)
    with named_line(None):
        words: dict[str, Any] = {
            name: top.word(name, words) for name, words in WORDS.items() if name in top
        }
        return Policy(
            privacy_level,
            precision_level,
            _preferences(top),
            protection=_one(top, "protection", _protection, Protection()),
            budget=_one(top, "budget", _budget, Budget()),
            recipients=_named(top, "recipient", lambda table: _recipient(table, privacy_level)),
            black_list=_areas(top, "black_list", folder),
            white_list=_areas(top, "white_list", folder),
            places=_named(top, "place", _place),
            sources=_named(top, "source", _source),
            decoys=top.truth("decoys"),
            private=top.truth("private"),
            **words,
        )


def _one(top: Table, name: str, read: Callable[[Table], Value], usual: Value) -> Value:
    if name not in top:
        return usual
    table = top.table(name)
    with named_line(table.own_line):
        return read(table)


def _named(top: Table, name: str, read: Callable[[Table], Value]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    if name in top:
        for label, table in top.table(name).tables().items():
            with named_line(table.own_line):
                found[label] = read(table)
    return found


def _preferences(top: Table) -> tuple[Preference, ...]:
    if isinstance(top.fields.get("preferences"), str):
        return parse_preferences(top.text("preferences"), top.line("preferences"))
    found = []
    for line, entry in top.entries("preferences"):
        if isinstance(entry, str):
            found.append(parse_preference(entry, Manner(line)))
            continue
        entry.require_known(("rule", "unknown", "private"))
        unknown = Unknown(entry.word("unknown", Unknown)) if "unknown" in entry else None
        manner = Manner(line, unknown, entry.truth("private"))
        found.append(parse_preference(entry.text("rule"), manner))
    return tuple(found)


def _areas(top: Table, name: str, folder: Path | None) -> tuple[Area, ...]:
    found: list[Area] = []
    for line, entry in top.entries(name):
        if isinstance(entry, str):
            found.append(ListedCells((entry,), line=line))
        else:
            found.append(_area(entry, line, folder))
    return tuple(found)


def _area(table: Table, line: int | None, folder: Path | None) -> Area:
    table.require_known(("cells", "geojson", "place", "radius"))
    if sum(key in table for key in ("cells", "geojson", "place")) != 1:
        raise refused_at(line, "an area is either cells, a geojson, or a place with a radius")
    if "cells" in table:
        return ListedCells(tuple(table.texts("cells")), line=line)
    if "geojson" in table:
        return Polygon(_geojson(table, folder), line=line)
    return Around(table.text("place"), table.quantity("radius", Kind.LENGTH), line=line)


def _geojson(table: Table, folder: Path | None) -> str:
    """Return the GeoJSON that stands there, or in the file that is named there."""
    text = table.text("geojson")
    if text.lstrip().startswith("{"):
        return text
    path = (folder or Path()) / text
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise table.refused("geojson", f"{path.name} is larger than {LARGEST_BYTES:,} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as refusal:
        raise table.refused("geojson", f"cannot read {path.name}: {refusal.strerror}") from None
    except UnicodeDecodeError:
        raise table.refused("geojson", f"{path.name} is not text in UTF-8") from None


def _protection(table: Table) -> Protection:
    table.require_known(("epsilon_per_km", "radius", "least_area_km2"))
    usual, area = Protection(), table.number_or_none("least_area_km2")
    least = usual.least_area_km2 if area is None else area
    if "radius" in table:
        epsilon = table.number_or_none("epsilon_per_km")
        return Protection(epsilon, table.quantity("radius", Kind.LENGTH), least)
    alone = area is not None and "epsilon_per_km" not in table
    return Protection(
        usual.epsilon_per_km if alone else table.number("epsilon_per_km"), None, least
    )


def _budget(table: Table) -> Budget:
    table.require_known(("ceiling_per_km", "period", "at_ceiling"))
    usual = Budget()
    period = table.time("period", timedelta(hours=usual.period_hours))
    ceiling = table.number_or_none("ceiling_per_km")
    at_ceiling = AtCeiling.REFUSE
    if "at_ceiling" in table:
        at_ceiling = AtCeiling(table.word("at_ceiling", AtCeiling))
    return Budget(period / timedelta(hours=1), ceiling, at_ceiling)


def _recipient(table: Table, privacy_level: int) -> Recipient:
    table.require_known(("precision_level",))
    found = Recipient(table.whole("precision_level"))
    require_levels(privacy_level, found.precision_level)
    return found


def _place(table: Table) -> Place:
    table.require_known(("latitude", "longitude"))
    return Place(table.number("latitude"), table.number("longitude"))


def _source(table: Table) -> Source:
    table.require_known(
        ("kind", "table", "url", "unit", "column", "time_to_live", "time_out", "subtree")
    )
    return Source(
        Kind(table.word("kind", Kind)),
        table=table.text_or_none("table"),
        url=table.text_or_none("url"),
        unit=table.text_or_none("unit"),
        column=table.text_or_none("column"),
        time_to_live=table.time("time_to_live", TIME_TO_LIVE),
        time_out=table.time("time_out", TIME_OUT),
        subtree=table.text_or_none("subtree"),
        line=table.own_line,
    )
