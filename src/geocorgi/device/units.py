"""What preferences count in: lengths in km, times in minutes, temperatures in °C.

A value keeps the unit that its writer chose; it is compared in the base unit of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """What a variable's values are."""

    BOOLEAN = "boolean"
    NUMBER = "number"
    LENGTH = "length"
    TIME = "time"
    TEMPERATURE = "temperature"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: ``base = value * factor + offset``, the base being km, minutes or °C."""

    name: str
    kind: Kind
    factor: float
    offset: float = 0.0

    def in_base(self, value: float) -> float:
        """Return the value in the base unit of its kind."""
        return value * self.factor + self.offset


_UNITS = (
    (Unit("m", Kind.LENGTH, 0.001), ("metre", "metres", "meter", "meters")),
    (Unit("km", Kind.LENGTH, 1.0), ("kilometre", "kilometres", "kilometer", "kilometers")),
    (Unit("miles", Kind.LENGTH, 1.609344), ("mile", "mi")),
    (Unit("seconds", Kind.TIME, 1 / 60), ("second", "s", "sec")),
    (Unit("minutes", Kind.TIME, 1.0), ("minute", "min")),
    (Unit("hours", Kind.TIME, 60.0), ("hour", "h")),
    (Unit("days", Kind.TIME, 1440.0), ("day", "d")),
    (Unit("°C", Kind.TEMPERATURE, 1.0), ("C", "celsius")),
    (Unit("°F", Kind.TEMPERATURE, 5 / 9, -160 / 9), ("F", "fahrenheit")),
)
UNITS = MappingProxyType({unit.name: unit for unit, _ in _UNITS})
SPELLINGS = MappingProxyType(
    {spelling: unit for unit, others in _UNITS for spelling in (unit.name, *others)}
)
BASE = MappingProxyType({Kind.LENGTH: "km", Kind.TIME: "minutes", Kind.TEMPERATURE: "°C"})


def units_of(kind: Kind) -> str:
    """Return the units of a kind, for a sentence."""
    return ", ".join(unit.name for unit, _ in _UNITS if unit.kind is kind)
