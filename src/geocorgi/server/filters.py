"""Public filters as an operator writes them: NAME=ATTRIBUTE>=NUMBER, or NAME=FILE."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import InvalidInput
from geocorgi.tree.priors_file import read_weights
from geocorgi.wire.predicate import Condition, Predicate, passing

CONDITION = re.compile(r"([a-z][a-z0-9_-]*)(>=|<=)([0-9.eE+-]+)")
Attributes = dict[str, NDArray[np.float64]]


@dataclass(slots=True)
class Filters:
    """Filters by name, with what passes and why; and the attributes, a file's among them."""

    attributes: Attributes
    cells: dict[str, tuple[str, ...]] = field(default_factory=dict)
    predicates: dict[str, Predicate] = field(default_factory=dict)


def filters_of(
    texts: Sequence[str], attributes: Mapping[str, NDArray[np.float64]], leaves: Sequence[str]
) -> Filters:
    """Return the filters in the texts; a file's weights become the attribute of its name."""
    found = Filters(dict(attributes))
    for text in texts:
        name, equals, rest = text.partition("=")
        if not equals or not rest:
            raise InvalidInput("--filter takes NAME=FILE or NAME=ATTRIBUTE>=NUMBER[,…]")
        predicate = _conditions(rest) or _of_file(name, rest, found.attributes, leaves)
        _require_known(predicate, found.attributes)
        found.predicates[name] = predicate
        found.cells[name] = passing(predicate, found.attributes, leaves)
    return found


def _conditions(text: str) -> Predicate:
    """Return the conditions in the text, none where it is the name of a file."""
    parts = [CONDITION.fullmatch(part.strip()) for part in text.split(",")]
    return tuple(_condition(*part.groups()) for part in parts if part) if all(parts) else ()


def _condition(attribute: str, relation: str, number: str) -> Condition:
    try:
        bound = float(number)
    except ValueError:
        raise InvalidInput(f"--filter: '{number}' is not a number") from None
    return Condition(attribute, bound) if relation == ">=" else Condition(attribute, None, bound)


def _of_file(name: str, file: str, attributes: Attributes, leaves: Sequence[str]) -> Predicate:
    weights = read_weights(file)
    listed = dict(zip(weights.cells, weights.weights.tolist(), strict=True))
    if not listed.keys() <= set(leaves):
        raise InvalidInput(f"--filter {name}: the file has cells that are no leaves of the map")
    row = np.array([listed.get(leaf, 0.0) for leaf in leaves])
    if name in attributes:
        raise InvalidInput(f"--filter {name}: there is an attribute of that name already")
    if not row.any():
        raise InvalidInput(f"--filter {name}: no leaf has a weight above zero")
    attributes[name] = row
    return (Condition(name, at_least=float(row[row > 0].min())),)


def _require_known(predicate: Predicate, attributes: Attributes) -> None:
    unknown = sorted({one.attribute for one in predicate} - attributes.keys())
    if unknown:
        known = ", ".join(sorted(attributes)) or "none: they come from --checkins"
        raise InvalidInput(f"--filter: there is no attribute '{unknown[0]}'; there are {known}")
