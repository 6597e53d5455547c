"""A policy written as TOML, so that reading it gives the same policy back.

What has its usual value is left out, except the levels. Drawn areas are written in place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

from geocorgi.device.areas import Area, ListedCells, Polygon
from geocorgi.device.policy import WORDS, Budget, Policy, Protection
from geocorgi.device.preferences import Preference, number_text, usual_unknown
from geocorgi.device.sources import TIME_OUT, TIME_TO_LIVE, Source


def policy_toml(policy: Policy) -> str:
    """Return the policy as TOML."""
    return "\n".join(_lines(policy)) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    usual = Policy(policy.privacy_level, policy.precision_level)
    yield f"privacy_level = {policy.privacy_level}"
    yield f"precision_level = {policy.precision_level}"
    for name in WORDS:
        if getattr(policy, name) != getattr(usual, name):
            yield f"{name} = {_text(getattr(policy, name))}"
    for name in ("decoys", "private"):
        if getattr(policy, name):
            yield f"{name} = true"
    if policy.preferences:
        yield "preferences = ["
        yield from (f"    {_preference(one)}," for one in policy.preferences)
        yield "]"
    yield from _tables(policy, usual)


def _tables(policy: Policy, usual: Policy) -> Iterator[str]:
    if policy.protection != usual.protection:
        yield from ("", "[protection]", *_protection(policy.protection))
    if policy.budget != usual.budget:
        yield from ("", "[budget]", *_budget(policy.budget))
    for label, recipient in policy.recipients.items():
        yield from ("", f"[recipient.{_text(label)}]")
        yield f"precision_level = {recipient.precision_level}"
    for name, place in policy.places.items():
        yield from ("", f"[place.{name}]", f"latitude = {place.latitude!r}")
        yield f"longitude = {place.longitude!r}"
    for name, areas in (("black_list", policy.black_list), ("white_list", policy.white_list)):
        for area in areas:
            yield from ("", f"[[{name}]]", *_area(area))
    for name, source in policy.sources.items():
        yield from ("", f"[source.{name}]", *_source(source))


def _preference(preference: Preference) -> str:
    rule, unknown = _text(str(preference)), str(preference.unknown)
    more = "" if unknown == usual_unknown(preference.variable) else f", unknown = {_text(unknown)}"
    more += ", private = true" if preference.private else ""
    return f"{{ rule = {rule}{more} }}" if more else rule


def _protection(protection: Protection) -> Iterator[str]:
    if protection.radius_km is not None:
        yield f"radius = {_quantity(protection.radius_km, 'km')}"
    else:
        yield f"epsilon_per_km = {protection.epsilon_per_km!r}"
    if protection.least_area_km2 != Protection().least_area_km2:
        yield f"least_area_km2 = {protection.least_area_km2!r}"


def _budget(budget: Budget) -> Iterator[str]:
    if budget.ceiling_per_km is not None:
        yield f"ceiling_per_km = {budget.ceiling_per_km!r}"
    seconds = timedelta(hours=budget.period_hours).total_seconds()
    yield f"period = {_quantity(seconds, 'seconds')}"
    yield f"at_ceiling = {_text(budget.at_ceiling)}"


def _area(area: Area) -> Iterator[str]:
    if isinstance(area, ListedCells):
        yield f"cells = [{', '.join(map(_text, area.cells))}]"
    elif isinstance(area, Polygon):
        yield f"geojson = {_text(area.geojson)}"
    else:
        yield f"place = {_text(area.place)}"
        yield f"radius = {_quantity(area.radius_km, 'km')}"


def _source(source: Source) -> Iterator[str]:
    yield f"kind = {_text(source.kind)}"
    for name in ("table", "url", "unit", "column", "subtree"):
        if (value := getattr(source, name)) is not None:
            yield f"{name} = {_text(value)}"
    if source.time_to_live != TIME_TO_LIVE:
        yield f"time_to_live = {_quantity(source.time_to_live.total_seconds(), 'seconds')}"
    if source.time_out != TIME_OUT:
        yield f"time_out = {_quantity(source.time_out.total_seconds(), 'seconds')}"


def _quantity(value: float, unit: str) -> str:
    return _text(f"{number_text(value)} {unit}")


def _text(value: str) -> str:
    """Return a TOML basic string: JSON's spelling of a text is one, without its DEL."""
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
