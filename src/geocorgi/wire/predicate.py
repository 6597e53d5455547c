"""What makes a leaf pass a public filter: intervals of public attributes, all of which must hold.

A server names the cells that pass; a device, which has the same attributes, checks that it did.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidMessage
from geocorgi.wire import canonical

MOST_CONDITIONS = 20


def _is_bound(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isfinite(value))


FIELDS = {"at_least": _is_bound, "at_most": _is_bound, "attribute": canonical.is_text}


@dataclass(frozen=True, slots=True)
class Condition:
    """An attribute's value lies between two bounds, themselves included; one may be missing."""

    attribute: str
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        """Refuse what says nothing."""
        if not (_is_bound(self.at_least) and _is_bound(self.at_most)):
            raise InvalidMessage("a condition's bounds are finite numbers")
        if self.at_least is None and self.at_most is None:
            raise InvalidMessage("a condition has a bound below or above")


Predicate = tuple[Condition, ...]


def passing(
    predicate: Predicate, attributes: Mapping[str, NDArray[np.float64]], leaves: Sequence[str]
) -> tuple[str, ...]:
    """Return the leaves for which every condition holds."""
    holds = np.ones(len(leaves), dtype=bool)
    for condition in predicate:
        if condition.attribute not in attributes:
            raise InvalidMessage("a filter is over an attribute that the map does not have")
        values = attributes[condition.attribute]
        if condition.at_least is not None:
            holds &= values >= condition.at_least
        if condition.at_most is not None:
            holds &= values <= condition.at_most
    return tuple(leaf for leaf, passes in zip(leaves, holds.tolist(), strict=True) if passes)


def require_predicate(predicate: Sequence[Condition]) -> Predicate:
    """Return the conditions if they are few, and at least one."""
    if not 0 < len(predicate) <= MOST_CONDITIONS:
        raise InvalidMessage(f"a filter has 1 to {MOST_CONDITIONS} conditions")
    return tuple(predicate)


def predicate_fields(predicate: Predicate) -> list[dict[str, Any]]:
    """Return the conditions as JSON has them."""
    return [
        {"at_least": one.at_least, "at_most": one.at_most, "attribute": one.attribute}
        for one in predicate
    ]


def predicate_of(fields: Any) -> Predicate:
    """Return the conditions that JSON has, or refuse them."""
    if not (isinstance(fields, list) and len(fields) <= MOST_CONDITIONS):
        raise InvalidMessage(f"a filter has 1 to {MOST_CONDITIONS} conditions")
    found = [canonical.require_fields(row, FIELDS, "a filter's condition") for row in fields]
    return tuple(Condition(**row) for row in found)
