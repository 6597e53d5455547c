"""What a policy comes to, in words and numbers: who learns what, what is removed, what holds.

Everything about the whole map is the same for every place; ``here`` is about the user's own
subtree, is for her eyes, and is there only if she says where she is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geocorgi.device.customising import Customised
from geocorgi.device.guarantee import Guarantee, guarantee_of
from geocorgi.device.obfuscate import customised_for
from geocorgi.device.offers import wished_per_km
from geocorgi.device.preparation import Prepared
from geocorgi.device.removal import Rule
from geocorgi.device.selection import Mechanism, Selection
from geocorgi.device.usefulness import Usefulness, usefulness_of
from geocorgi.device.what_others_learn import not_guaranteed, recipient_learns, server_learns
from geocorgi.matrix.protection_radius import protection_radius_km
from geocorgi.wire.forest_request import request_fields


@dataclass(frozen=True, slots=True)
class RuleExplained:
    """A rule of the policy: what it removes of the map, and how it is carried out."""

    rule: str
    cells_of_map: int
    how: str
    note: str | None


@dataclass(frozen=True, slots=True)
class Here:
    """The user's own subtree: which cells it never reports and why, and what a report is worth."""

    subtree: str
    cells: int
    never_reported: dict[str, tuple[str, ...]]
    guarantee: Guarantee
    usefulness: Usefulness


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that there is to say before a report is made."""

    request: dict[str, Any]
    wished_per_km: float
    protection_radius_m: float
    mechanism: Mechanism
    delta: str
    rules: tuple[RuleExplained, ...]
    server_learns: tuple[str, ...]
    recipient_learns: tuple[str, ...]
    not_guaranteed: tuple[str, ...]
    here: Here | None


def explain(prepared: Prepared, precision_level: int, real_leaf: str | None = None) -> Explanation:
    """Return what the policy comes to on the map, and in the user's subtree if she says where."""
    selection, customised = prepared.selection, None
    if real_leaf is not None:
        customised = customised_for(prepared, real_leaf, precision_level)
        selection = customised.selection
    request = selection.request
    return Explanation(
        request=request_fields(request),
        wished_per_km=wished_per_km(prepared.policy.protection),
        protection_radius_m=1000 * protection_radius_km(request.epsilon_per_km),
        mechanism=selection.mechanism,
        delta=_delta(prepared, selection),
        rules=tuple(_rules(selection)),
        server_learns=server_learns(prepared, selection),
        recipient_learns=recipient_learns(prepared, selection, precision_level),
        not_guaranteed=not_guaranteed(prepared, selection),
        here=None if customised is None else _here(prepared, customised),
    )


def _rules(selection: Selection) -> list[RuleExplained]:
    """Return every rule, those that were given up too."""
    explained = [
        RuleExplained(rule.reason, len(rule.removes), _how(rule, selection), rule.note)
        for rule in (*selection.removal.rules, *selection.set_aside)
    ]
    if selection.decoys:
        how = "fixed by this device's secret, on the device"
        explained.append(RuleExplained("decoys", len(selection.decoys), how, None))
    return explained


def _how(rule: Rule, selection: Selection) -> str:
    if rule in selection.set_aside:
        return 'not kept: on_excess = "fewer" gave it up'
    name, gone = selection.request.filter, rule.removes & selection.left_out
    if gone == rule.removes and gone:
        return f"by the public filter '{name}' that is asked for"
    return f"on the device; the filter '{name}' takes {len(gone)}" if gone else "on the device"


def _delta(prepared: Prepared, selection: Selection) -> str:
    """Return why this delta is asked for."""
    policy, asked, needed = prepared.policy, selection.request.delta, selection.needed_delta
    if policy.voids_geo_ind:
        return f"{asked}: the largest on offer, for what is removed depends on where the user is"
    if prepared.accepted is None:
        return f"{asked}; no forest could be had, and the policy allows the universal mechanism"
    counts = f"the rules remove at most {needed} cells of any subtree of the map"
    if selection.mechanism is Mechanism.UNIVERSAL:
        return (
            f"{asked}, the largest on offer; {counts}, so the forest is fetched and not used: the "
            "universal mechanism, made here, is private whatever is removed"
        )
    return f"{asked}: {counts}, and {asked} is the smallest on offer that covers them"


def _here(prepared: Prepared, customised: Customised) -> Here:
    selection, leaves = customised.selection, customised.subtree.leaves
    reasons = {}
    for leaf in leaves:
        if leaf in selection.never_reported:
            said = selection.removal.reasons(leaf)
            decoy = ("a decoy",) if leaf in selection.decoys else ()
            beyond = ("the filter leaves it out",) if not (said or decoy) else ()
            reasons[leaf] = said + decoy + beyond
    return Here(
        subtree=customised.subtree.root,
        cells=len(leaves),
        never_reported=reasons,
        guarantee=guarantee_of(prepared.policy, customised),
        usefulness=usefulness_of(prepared.public_map, customised),
    )
