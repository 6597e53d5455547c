"""From preferences to S over the whole map: the rules of a policy, one by one (Paper: §4.3).

S is a function of the policy, the public map and what is known of its cells; the user's place goes
into it only where the policy asks for that by name (``voids_geo_ind``). It is therefore worked out
for every leaf there is, never for the user's own subtree alone (ADR 11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geocorgi.device.areas import Area, Around, ListedCells
from geocorgi.device.attributes.values import Attributes, AttributeValues
from geocorgi.device.coverage import leaves_in, leaves_touched
from geocorgi.device.from_somewhere import distances_from
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import (
    DISTANCE,
    PERSONAL,
    SUBTREE,
    Preference,
    Unknown,
    Value,
    at_line,
)
from geocorgi.device.removal import Removal, Rule
from geocorgi.device.units import Kind
from geocorgi.device.variables import require_types
from geocorgi.errors import AttributeUnknown, InvalidPolicy
from geocorgi.wire.public_map import PublicMap


def removed_over_map(
    policy: Policy, public_map: PublicMap, attributes: Attributes, real_leaf: str | None = None
) -> Removal:
    """Return what the policy removes of the map, or refuse a policy that leaves nothing.

    ``real_leaf`` is looked at only by a distance from ``me``.
    """
    require_types(policy, public_map, attributes)
    world = _World(policy, public_map, public_map.leaves, attributes, real_leaf)
    rules = [
        *(_black(area, world) for area in policy.black_list),
        *_white(world),
        *(_preferred(preference, world) for preference in policy.preferences),
    ]
    removal = Removal(world.leaves, tuple(rules), policy.voids_geo_ind)
    _require_something(removal)
    return removal


@dataclass(frozen=True, slots=True)
class _World:
    policy: Policy
    public_map: PublicMap
    leaves: tuple[str, ...]
    attributes: Attributes
    real_leaf: str | None


def _black(area: Area, world: _World) -> Rule:
    touched = leaves_touched(area, world.policy, world.leaves)
    return Rule(f"black list: {_named(area)}", touched, line=area.line)


def _white(world: _World) -> list[Rule]:
    """Return the white list as one rule: a leaf in any of its areas stays."""
    areas = world.policy.white_list
    if not areas:
        return []
    stays = frozenset().union(*(leaves_in(area, world.policy, world.leaves) for area in areas))
    text = f"white list: {', '.join(_named(area) for area in areas)}"
    return [Rule(text, frozenset(world.leaves) - stays, line=areas[0].line)]


def _named(area: Area) -> str:
    if isinstance(area, Around):
        return f"around {area.place}"
    if isinstance(area, ListedCells):
        return f"{len(area.cells)} cells"
    return "a drawn area"


def _preferred(preference: Preference, world: _World) -> Rule:
    known, public = _values(preference, world)
    unmet = {leaf for leaf, value in known.values.items() if not preference.is_met_by(value)}
    unknown = [leaf for leaf in world.leaves if leaf not in known.values]
    note = None
    if unknown:
        note = _decided(preference, len(unknown), len(world.leaves), known.trouble)
        if preference.unknown is Unknown.REMOVE:
            unmet.update(unknown)
    public = public and not (preference.private or world.policy.private)
    removes = frozenset(unmet).intersection(world.leaves)
    return Rule(str(preference), removes, public, preference.line, note)


def _values(preference: Preference, world: _World) -> tuple[AttributeValues, bool]:
    """Return the variable's values over the map, and whether they are public."""
    name, public_map = preference.variable, world.public_map
    if name == DISTANCE:
        measured = distances_from(
            preference, world.policy, world.leaves, public_map.leaf_resolution, world.real_leaf
        )
        return AttributeValues(Kind.LENGTH, measured), preference.origin == SUBTREE
    if name in world.attributes:
        return world.attributes[name], False
    if name in public_map.filters and preference.kind is Kind.BOOLEAN:
        passing = frozenset(public_map.filters[name])
        return AttributeValues(Kind.BOOLEAN, {leaf: leaf in passing for leaf in world.leaves}), True
    if name in public_map.attributes:
        row: Mapping[str, Value] = dict(
            zip(world.leaves, public_map.attributes[name].tolist(), strict=True)
        )
        return AttributeValues(Kind.NUMBER, row), True
    return AttributeValues(preference.kind, {}, _way_out(name)), False


def _way_out(name: str) -> str:
    if name in PERSONAL:
        return "nothing is known of your own places: run 'geocorgi policy places'"
    return f"neither the map nor a [source.{name}] of the policy knows it"


def _decided(preference: Preference, unknown: int, leaves: int, trouble: str | None) -> str:
    why = f" ({trouble})" if trouble else ""
    where = f"'{preference.variable}' is not known for {unknown:,} of {leaves:,} cells{why}"
    if preference.unknown is Unknown.REFUSE:
        sentence = f"{where}, and the preference says unknown = refuse"
        raise AttributeUnknown(at_line(preference.line, sentence))
    become = "are removed" if preference.unknown is Unknown.REMOVE else "stay"
    return f"{where}: they {become} (unknown = {preference.unknown})"


def _require_something(removal: Removal) -> None:
    for count, rule in enumerate(removal.rules, 1):
        if len(removal.first(count).removed) == len(removal.leaves):
            sentence = f"after '{rule.text}' no cell of the whole map is left to report"
            raise InvalidPolicy(at_line(rule.line, sentence))
