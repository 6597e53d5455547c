"""What is known of one variable: a value for each leaf, or for some, and why not for the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from geocorgi.device.preferences import Value
from geocorgi.device.units import Kind
from geocorgi.errors import InvalidInput

TYPES = MappingProxyType({Kind.BOOLEAN: bool, Kind.CATEGORY: str})


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """Values by leaf, in the base unit of their kind; a leaf that is not there is unknown.

    ``trouble`` says in words why some are not known, when their source could not say. The values
    may tell about the user, hence they are in no repr.
    """

    kind: Kind
    values: Mapping[str, Value] = field(repr=False)
    trouble: str | None = None

    def __post_init__(self) -> None:
        """Keep a copy that nobody changes, of values that are what they are said to be."""
        for value in self.values.values():
            if type(value) is not TYPES.get(self.kind, float) or not _is_finite(value):
                raise InvalidInput(f"some value is no {self.kind}, or is not finite")
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))


Attributes = Mapping[str, AttributeValues]


def _is_finite(value: Value) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
