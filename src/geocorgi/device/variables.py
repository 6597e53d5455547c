"""Which variables there are and what each is compared with; the check names the line.

A variable is known from the policy's own sources, from the list below, or from the public map: a
filter of its name is boolean, an attribute is a number (asked for True or False: whether it is
above zero).
"""

from __future__ import annotations

from types import MappingProxyType

from geocorgi.device.attributes.values import Attributes
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import Preference
from geocorgi.device.units import Kind, units_of
from geocorgi.wire.public_map import PublicMap

WELL_KNOWN = MappingProxyType(
    {
        "home": Kind.BOOLEAN,
        "office": Kind.BOOLEAN,
        "outlier": Kind.BOOLEAN,
        "visited": Kind.BOOLEAN,
        "popular": Kind.BOOLEAN,
        "water": Kind.BOOLEAN,
        "land": Kind.BOOLEAN,
        "distance": Kind.LENGTH,
        "driving_distance": Kind.LENGTH,
        "driving_time": Kind.TIME,
        "temperature": Kind.TEMPERATURE,
        "traffic": Kind.CATEGORY,
        "weather": Kind.CATEGORY,
    }
)
NOTHING: Attributes = MappingProxyType({})
EXAMPLES = MappingProxyType(
    {
        Kind.BOOLEAN: "True or False",
        Kind.NUMBER: "a number without a unit",
        Kind.LENGTH: f"a number and one of {units_of(Kind.LENGTH)}",
        Kind.TIME: f"a number and one of {units_of(Kind.TIME)}",
        Kind.TEMPERATURE: f"a number and one of {units_of(Kind.TEMPERATURE)}",
        Kind.CATEGORY: "a word",
    }
)


def require_types(
    policy: Policy, public_map: PublicMap | None, attributes: Attributes = NOTHING
) -> None:
    """Refuse a preference on an unknown variable, or of another kind than its variable."""
    for preference in policy.preferences:
        name = preference.variable
        kinds = _declared(name, policy, attributes) or _on_map(name, public_map)
        _require_type(preference, kinds, public_map)


def _declared(variable: str, policy: Policy, attributes: Attributes) -> frozenset[Kind]:
    for known in (policy.sources, attributes):
        if variable in known:
            return frozenset({known[variable].kind})
    return frozenset({WELL_KNOWN[variable]} if variable in WELL_KNOWN else ())


def _on_map(variable: str, public_map: PublicMap | None) -> frozenset[Kind]:
    if public_map is None:
        return frozenset()
    if variable in public_map.attributes:
        return frozenset({Kind.BOOLEAN, Kind.NUMBER})
    return frozenset({Kind.BOOLEAN} if variable in public_map.filters else ())


def _require_type(
    preference: Preference, kinds: frozenset[Kind], public_map: PublicMap | None
) -> None:
    name = preference.variable
    if not kinds:
        where = "the map has no such filter or attribute" if public_map else "or name the map"
        raise preference.refused(
            f"nothing is known of a variable '{name}'; declare where it comes from under "
            f"[source.{name}], {where}"
        )
    if preference.kind not in kinds:
        wanted = " or ".join(EXAMPLES[kind] for kind in sorted(kinds))
        raise preference.refused(f"'{name}' is compared with {wanted}")
