"""A table of a TOML file that knows its lines: every field is asked for by name and type."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from geocorgi.device.notation import parse_quantity
from geocorgi.device.preferences import refused_at
from geocorgi.device.toml_lines import Path
from geocorgi.device.units import UNITS, Kind, units_of
from geocorgi.errors import InvalidInput, InvalidPolicy


@dataclass(frozen=True, slots=True)
class Table:
    """The fields of one table, and where each stands. What they say is in no repr."""

    fields: Mapping[str, Any] = field(repr=False)
    lines: Mapping[Path, int] = field(repr=False)
    path: Path

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    @property
    def own_line(self) -> int | None:
        """The line in which the table begins."""
        return self.lines.get(self.path)

    def line(self, name: str) -> int | None:
        """Return the field's line, or the table's where there is no such field."""
        return self.lines.get((*self.path, name), self.own_line)

    def refused(self, name: str, sentence: str) -> InvalidPolicy:
        """Return the error that names the field's line."""
        return refused_at(self.line(name), sentence)

    def require_known(self, names: Sequence[str]) -> None:
        """Refuse a field of another name: misspelt, it would otherwise do nothing, silently."""
        for name in self.fields:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                way_out = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names)}"
                raise self.refused(name, f"there is nothing of this name here; {way_out}")

    def whole(self, name: str, usual: int | None = None) -> int:
        """Return a whole number."""
        value = self.fields.get(name, usual)
        if value is None:
            raise self.refused(name, f"{name} is missing")
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refused(name, f"{name} is a whole number")
        return value

    def number(self, name: str) -> float:
        """Return a number."""
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused(name, f"{name} is a number")
        return float(value)

    def number_or_none(self, name: str) -> float | None:
        """Return a number, or None where nothing is said."""
        return self.number(name) if name in self.fields else None

    def truth(self, name: str) -> bool:
        """Return true or false; false where nothing is said."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise self.refused(name, f"{name} is true or false, without quotes")
        return value

    def text(self, name: str) -> str:
        """Return a text."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.refused(name, f"{name} is a text in quotes")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a text, or None where nothing is said."""
        return self.text(name) if name in self.fields else None

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.refused(name, f"{name} is a list of texts in quotes")
        return value

    def word(self, name: str, words: type[StrEnum]) -> str:
        """Return one of some words."""
        value = self.fields.get(name)
        if value not in list(words):
            raise self.refused(name, f"{name} is one of {', '.join(words)}")
        return str(value)

    def time(self, name: str, usual: timedelta) -> timedelta:
        """Return a time with a unit, to the microsecond."""
        if name not in self.fields:
            return usual
        try:
            return timedelta(minutes=self.quantity(name, Kind.TIME))
        except OverflowError:
            raise self.refused(name, f"{name} is too long a time") from None

    def quantity(self, name: str, kind: Kind) -> float:
        """Return a number with a unit, in the base unit of the kind."""
        value = self.fields.get(name)
        with named_line(self.line(name)):
            found = parse_quantity(value) if isinstance(value, str) else None
        if found is None or found[1] is None or UNITS[found[1]].kind is not kind:
            raise self.refused(
                name, f"{name} is a {kind} in quotes: a number and one of {units_of(kind)}"
            )
        return UNITS[found[1]].in_base(found[0])

    def table(self, name: str) -> Table:
        """Return a table inside this one."""
        value = self.fields.get(name)
        if not isinstance(value, dict):
            raise self.refused(name, f"{name} is a table")
        return Table(value, self.lines, (*self.path, name))

    def tables(self) -> dict[str, Table]:
        """Return the tables inside this one by name; there is nothing else in it."""
        return {name: self.table(name) for name in self.fields}

    def entries(self, name: str) -> Iterator[tuple[int | None, str | Table]]:
        """Yield the texts and tables of a list, each with its line."""
        value = self.fields.get(name, [])
        if not isinstance(value, list):
            raise self.refused(name, f"{name} is a list")
        for place, entry in enumerate(value):
            path = (*self.path, name, place)
            if isinstance(entry, dict):
                yield self.lines.get(path), Table(entry, self.lines, path)
            elif isinstance(entry, str):
                yield self.lines.get(path), entry
            else:
                raise refused_at(
                    self.lines.get(path), f"an entry of {name} is a text in quotes or a table"
                )


@contextmanager
def named_line(line: int | None) -> Iterator[None]:
    """Give a refusal from within the line, unless it names one."""
    try:
        yield
    except InvalidInput as refusal:
        if isinstance(refusal, InvalidPolicy) and str(refusal).startswith("line "):
            raise
        raise refused_at(line, str(refusal)) from None
