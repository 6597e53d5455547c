"""A policy in plain words: what it does, sentence by sentence, and what it gives away."""

from __future__ import annotations

from collections.abc import Iterator

from geocorgi.device.areas import Area, Around, ListedCells
from geocorgi.device.policy import AtCeiling, OnExcess, OnUnreachable, Policy, Precision
from geocorgi.device.preferences import (
    DISTANCE,
    ME,
    SUBTREE,
    Operator,
    Preference,
    Unknown,
    number_text,
)
from geocorgi.matrix.prunable import Rows

IS = {
    Operator.EQUAL: "is", Operator.NOT_EQUAL: "is not", Operator.LESS: "is below",
    Operator.GREATER: "is above", Operator.AT_LEAST: "is at least", Operator.AT_MOST: "is at most",
}  # fmt: skip
UNKNOWN = {
    Unknown.KEEP: "where that is not known the cell stays",
    Unknown.REMOVE: "where that is not known the cell is removed",
    Unknown.REFUSE: "where that is not known nothing is reported",
}
EXCESS = {
    OnExcess.UNIVERSAL: "the universal mechanism is used, which any removal leaves private",
    OnExcess.FEWER: "the last preferences are given up first, and named",
    OnExcess.REFUSE: "nothing is reported",
}


def words_of(policy: Policy) -> tuple[str, ...]:
    """Return what the policy does, in sentences."""
    return (*_levels(policy), *_removing(policy), *_manner(policy), *_promise(policy))


def warnings_of(policy: Policy) -> tuple[str, ...]:
    """Return what the policy gives away or gives up, in sentences."""
    found = []
    if policy.voids_geo_ind:
        found.append(
            "A distance from 'me' makes what is removed depend on where you are: two places can "
            "be told apart by one report, and no epsilon holds. Every report says so."
        )
    found += [
        f"The provider of '{name}' is asked for one subtree alone and so learns which."
        for name in policy.asked_for_one_subtree
    ]
    if policy.rows is Rows.DROP:
        found.append(
            'With rows = "drop" every report proves that you are not in a removed place, and '
            "standing in one nothing is reported, which can be observed."
        )
    if policy.precision is Precision.AVERAGE:
        found.append(
            "Averaged rows need a larger epsilon than the one asked for; reports say how large, "
            "and each is drawn anew and charged."
        )
    if policy.budget.ceiling_per_km is None:
        found.append("There is no ceiling: reports from new places add up without end.")
    return tuple(found)


def _levels(policy: Policy) -> Iterator[str]:
    yield (
        f"You are hidden among the cells below one cell of level {policy.privacy_level}; a report "
        "reveals which one that is."
    )
    yield f"A report is a cell of level {policy.precision_level}."
    for label, recipient in policy.recipients.items():
        yield f"For '{label}' it is a cell of level {recipient.precision_level}."


def _removing(policy: Policy) -> Iterator[str]:
    for area in policy.black_list:
        yield f"Never reported: cells that touch {_area(area)}{_at(area.line)}."
    if policy.white_list:
        areas = " or ".join(map(_area, policy.white_list))
        yield f"Only reported: cells with their centre in {areas}{_at(policy.white_list[0].line)}."
    for preference in policy.preferences:
        public = "" if policy.private or not preference.private else "; it stays on this device"
        yield f"{_preference(preference)}{public}{_at(preference.line)}."
    if policy.private:
        yield "No preference is sent to a server as a filter: all are met on this device."


def _preference(preference: Preference) -> str:
    name, unknown = preference.variable, UNKNOWN[preference.unknown or Unknown.KEEP]
    if isinstance(preference.value, bool):
        wanted = preference.value is (preference.operator is Operator.EQUAL)
        start = f"Only reported: cells that are '{name}'" if wanted else f"Never reported: '{name}'"
        return f"{start}; {unknown}"
    unit = f" {preference.unit}" if preference.unit else ""
    value = preference.value
    shown = f"'{value}'" if isinstance(value, str) else number_text(value)
    rest = f"{IS[preference.operator]} {shown}{unit}"
    if name == DISTANCE:
        return f"Only reported: cells whose distance from {_origin(preference)} {rest}"
    return f"Only reported: cells whose '{name}' {rest}; {unknown}"


def _origin(preference: Preference) -> str:
    if preference.origin == SUBTREE:
        return "the centre of the area that hides you"
    return "where you are" if preference.origin == ME else f"'{preference.origin}'"


def _area(area: Area) -> str:
    if isinstance(area, Around):
        return f"the circle of {number_text(area.radius_km)} km around '{area.place}'"
    if isinstance(area, ListedCells):
        return "the listed cell" if len(area.cells) == 1 else f"the {len(area.cells)} listed cells"
    return "the drawn area"


def _manner(policy: Policy) -> Iterator[str]:
    if policy.rows is Rows.KEEP:
        yield "You may stand in a removed place: reports come from there too, but never name it."
    else:
        yield "Standing in a removed place, nothing is reported."
    yield f"Where more is removed than any matrix on offer bears, {EXCESS[policy.on_excess]}."
    if policy.on_unreachable is OnUnreachable.UNIVERSAL:
        yield "Where no forest can be had, the universal mechanism is used, which needs no server."
    if policy.decoys:
        yield "Other cells, fixed by a secret of this device, are removed too, to hide your own."
    if policy.precision_level > 0 or policy.recipients:
        averaged = policy.precision is Precision.AVERAGE
        how = (
            "rows are averaged, as in the paper"
            if averaged
            else "a leaf is drawn, its ancestor said"
        )
        yield f"For coarser cells {how}."


def _promise(policy: Policy) -> Iterator[str]:
    protection, budget = policy.protection, policy.budget
    if protection.radius_km is not None:
        yield f"Wanted: protection within {number_text(protection.radius_km)} km."
    else:
        yield f"Wanted: epsilon {number_text(protection.epsilon_per_km or 0)} per km."
    least = number_text(protection.least_area_km2)
    yield f"Refused: a map on which the area that hides you is smaller than {least} km² anywhere."
    if budget.ceiling_per_km is not None:
        at = "everything is refused"
        if budget.at_ceiling is AtCeiling.REPEAT:
            at = "the last report is repeated"
        yield (
            f"Fresh draws cost at most {number_text(budget.ceiling_per_km)} per km in "
            f"{number_text(budget.period_hours)} hours; then {at}."
        )


def _at(line: int | None) -> str:
    return "" if line is None else f" (line {line})"
