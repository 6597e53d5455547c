"""What a user wants of the cells that may be reported (Paper: §3.2, User Preferences).

A preference is ``<var, op, val>``. A cell that does not meet it is removed. Where the variable's
value is not known for a cell, ``unknown`` says what happens; it never happens silently.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from geocorgi.device.units import UNITS, Kind
from geocorgi.errors import InvalidMessage, InvalidPolicy
from geocorgi.wire.catalogue import require_name

Value = bool | float | str
LONGEST_TEXT = 100
PERSONAL = frozenset({"home", "office", "outlier", "visited"})
ME = "me"
SUBTREE = "subtree"
DISTANCE = "distance"


class Operator(StrEnum):
    """How a value is compared, spelled as in the paper."""

    EQUAL = "="
    NOT_EQUAL = "≠"
    LESS = "<"
    GREATER = ">"
    AT_LEAST = "≥"
    AT_MOST = "≤"


COMPARISONS: MappingProxyType[Operator, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        Operator.EQUAL: operator.eq,
        Operator.NOT_EQUAL: operator.ne,
        Operator.LESS: operator.lt,
        Operator.GREATER: operator.gt,
        Operator.AT_LEAST: operator.ge,
        Operator.AT_MOST: operator.le,
    }
)


class Unknown(StrEnum):
    """What becomes of a cell for which the variable's value is not known."""

    KEEP = "keep"
    REMOVE = "remove"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Preference:
    """One predicate. ``private`` ones are never sent as a filter; ``origin`` is for distances.

    Without a choice, a cell of unknown value stays, except that what the user's own history is
    asked for (home, office, …) refuses: who writes ``home = False`` does not mean "if known".
    """

    variable: str
    operator: Operator
    value: Value
    unit: str | None = None
    unknown: Unknown | None = None
    private: bool = False
    origin: str | None = None
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse what no variable could be compared with."""
        try:
            require_name(self.variable, "variable")
            object.__setattr__(self, "operator", Operator(self.operator))
            object.__setattr__(
                self, "unknown", Unknown(self.unknown or usual_unknown(self.variable))
            )
        except (InvalidMessage, ValueError) as refusal:
            raise self.refused(str(refusal)) from None
        object.__setattr__(self, "value", self._require_value())
        if self.unit is not None and (self.unit not in UNITS or not self.is_number):
            raise self.refused(f"a unit is one of {', '.join(UNITS)}, after a number")
        if self.variable == DISTANCE and self.origin is None:
            object.__setattr__(self, "origin", SUBTREE)
        if self.origin is not None and self.variable != DISTANCE:
            raise self.refused("only a distance is measured from somewhere")

    @property
    def is_number(self) -> bool:
        """Whether the value is a number."""
        return isinstance(self.value, float)

    @property
    def kind(self) -> Kind:
        """What kind of value is compared, as far as its form tells."""
        if isinstance(self.value, bool):
            return Kind.BOOLEAN
        if isinstance(self.value, str):
            return Kind.CATEGORY
        return UNITS[self.unit].kind if self.unit else Kind.NUMBER

    @property
    def from_me(self) -> bool:
        """Whether the removed cells depend on where the user is: Geo-Ind is void."""
        return self.origin == ME

    def is_met_by(self, value: Value) -> bool:
        """Return whether a cell with this value, in the base unit, meets the preference.

        A number that is asked for True or False is True above zero.
        """
        wanted = self.value
        if isinstance(wanted, bool) and isinstance(value, float):
            value = value > 0
        if isinstance(wanted, float) and self.unit is not None:
            wanted = UNITS[self.unit].in_base(wanted)
        return bool(COMPARISONS[self.operator](value, wanted))

    def __str__(self) -> str:
        """Return the predicate as the paper writes it."""
        value = f'"{self.value}"' if isinstance(self.value, str) else number_text(self.value)
        unit = f" {self.unit}" if self.unit else ""
        origin = f" from {self.origin}" if self.origin not in (None, SUBTREE) else ""
        return f"{self.variable} {self.operator} {value}{unit}{origin}"

    def refused(self, sentence: str) -> InvalidPolicy:
        """Return the error that names the preference's line."""
        return refused_at(self.line, sentence)

    def _require_value(self) -> Value:
        value: object = self.value
        if isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise self.refused("a value is a finite number")
        if isinstance(value, str):
            self._require_text(value)
        if not isinstance(value, bool | float | str):
            raise self.refused("a value is True or False, a number, or a word")
        if not isinstance(value, float) and self.operator not in ("=", "≠"):
            raise self.refused(
                f"'{self.operator}' compares numbers; here only = and ≠ mean anything"
            )
        return value

    def _require_text(self, text: str) -> None:
        if not (0 < len(text) <= LONGEST_TEXT and text.isprintable() and '"' not in text):
            raise self.refused(f"a word has 1 to {LONGEST_TEXT} printable letters and no quote")
        if text.strip() != text or text.casefold() in ("true", "false"):
            raise self.refused("a word has no blanks around it, and True or False is no word")


def usual_unknown(variable: str) -> Unknown:
    """Return what becomes of cells of unknown value where the user did not choose."""
    return Unknown.REFUSE if variable in PERSONAL else Unknown.KEEP


def number_text(value: float) -> str:
    """Return the shortest text that is read as the same number (or truth)."""
    return str(value).removesuffix(".0")


def at_line(line: int | None, sentence: str) -> str:
    """Return the sentence with the line where its matter stands."""
    return sentence if line is None else f"line {line}: {sentence}"


def refused_at(line: int | None, sentence: str) -> InvalidPolicy:
    """Return the error that names the line."""
    return InvalidPolicy(at_line(line, sentence))
