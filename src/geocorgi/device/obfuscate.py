"""From a real location to a report (Paper: Alg. 4, alg:genObsLocation), one step after the other.

policy and map → δ → request → accept every subtree → subtree → S → prune → audit → draw a leaf →
coarsen (or average, then draw) → report. The first half is :mod:`geocorgi.device.preparation` and
does not know where the user is; this is the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geocorgi.device.customising import Customised, customise, require_everywhere
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.guarantee import Guarantee, given_guarantee, guarantee_of
from geocorgi.device.memory import Given, Terms
from geocorgi.device.policy import Policy, Precision
from geocorgi.device.preparation import Device, Prepared, prepare
from geocorgi.device.report import Report
from geocorgi.device.sampling import draw
from geocorgi.device.selection import Selection, selected_here
from geocorgi.device.whereabouts import Whereabouts, require_leaf
from geocorgi.errors import NotReported
from geocorgi.matrix.prunable import Rows
from geocorgi.tree import cells
from geocorgi.tree.location_tree import LocationTree

ANYBODY = "anybody"


@dataclass(frozen=True, slots=True)
class Obfuscated:
    """A report, what it cost, and what holds of it."""

    report: Report
    given: Given
    guarantee: Guarantee
    customised: Customised


def obfuscate(
    whereabouts: Whereabouts,
    policy: Policy,
    device: Device,
    recipient: str = ANYBODY,
    *,
    anew: bool = False,
) -> Obfuscated:
    """Return a report of where the user is, charged and remembered, or refuse without one."""
    ready = made_ready(policy, device)
    return obfuscate_from(whereabouts, ready, device, recipient, anew=anew)


def made_ready(policy: Policy, device: Device) -> Prepared:
    """Do all that does not depend on where the user is.

    Who asks for the place only afterwards asks servers at a moment that the place has no part in: a
    receiver without reception, say, delays or prevents a report and no request.
    """
    prepared = prepare(policy, device)
    require_everywhere(prepared)
    return prepared


def obfuscate_from(
    whereabouts: Whereabouts,
    prepared: Prepared,
    device: Device,
    recipient: str = ANYBODY,
    *,
    anew: bool = False,
) -> Obfuscated:
    """Return a report of where the user is, when everything else is ready."""
    policy = prepared.policy
    real_leaf = _settled(whereabouts, prepared, device)
    customised = customised_for(prepared, real_leaf, policy.precision_for(recipient))
    guarantee = guarantee_of(policy, customised)
    terms = replace(terms_of(prepared, customised, recipient), anew=anew)
    given = device.memory.report(real_leaf, lambda: drawn(customised, policy, real_leaf), terms)
    held = given_guarantee(guarantee, given, terms)
    return Obfuscated(_report(prepared, given), given, held, customised)


def customised_for(prepared: Prepared, real_leaf: str, precision_level: int) -> Customised:
    """Return the matrix for the user's subtree (Paper: Alg. 4, steps 1, 2 and 5 to 7)."""
    policy, public_map = prepared.policy, prepared.public_map
    resolution = public_map.leaf_resolution - policy.privacy_level
    subtree = LocationTree(cells.ancestor(real_leaf, resolution), policy.privacy_level)
    selection = _selection(prepared, real_leaf, subtree)
    if policy.rows is Rows.DROP and real_leaf in selection.pruned:
        raise NotReported(
            'the user is in a place that the policy removes, and with rows = "drop" nothing is '
            "reported from there. Whoever expects a report can observe this silence, and it tells "
            'them that she is in such a place: rows = "keep" reports from everywhere'
        )
    return customise(prepared, selection, subtree, precision_level)


def _settled(whereabouts: Whereabouts, prepared: Prepared, device: Device) -> str:
    """Return the leaf to report from: the one near the user where she is settled."""
    near = whereabouts.leaves_near(prepared.public_map.leaf_resolution)
    return require_leaf(device.settle(near), prepared.public_map)


def _selection(prepared: Prepared, real_leaf: str, subtree: LocationTree) -> Selection:
    """Return S: the whole map's, or her own where the policy asks for that by name."""
    policy = prepared.policy
    if not policy.voids_geo_ind:
        return prepared.selection
    removal = removed_over_map(policy, prepared.public_map, prepared.attributes, real_leaf)
    return selected_here(prepared.selection, policy, removal, subtree.leaves)


def drawn(customised: Customised, policy: Policy, real_leaf: str) -> str:
    """Return a fresh draw: a leaf to be remembered, or a cell of the averaged matrix.

    Paper: Alg. 4, step 8.
    """
    if policy.precision is Precision.COARSEN:
        return draw(customised.leaves, real_leaf)
    resolution = cells.resolution_of(customised.reported.row_cells[0])
    return draw(customised.reported, cells.ancestor(real_leaf, resolution))


def terms_of(prepared: Prepared, customised: Customised, recipient: str) -> Terms:
    """Return on what terms the memory gives a report: what a fresh draw costs, what may be said."""
    remembered = prepared.policy.precision is Precision.COARSEN
    promised = customised.selection.request.epsilon_per_km
    return Terms(
        recipient=recipient,
        epsilon_per_km=promised if remembered else _cost_of_averaging(prepared, customised),
        resolution=cells.resolution_of(customised.reported.column_cells[0]),
        removed=customised.selection.never_reported,
        budget=prepared.policy.budget,
        remembered=remembered,
        apart=prepared.policy.voids_geo_ind,
        area_resolution=cells.resolution_of(customised.subtree.root),
        rows=prepared.policy.rows,
        roots=frozenset(prepared.public_map.roots),
    )


def _cost_of_averaging(prepared: Prepared, customised: Customised) -> float:
    """Return the largest epsilon that averaging truly keeps in any subtree of the map.

    A cost of the user's own subtree alone would turn the ceiling into an oracle.
    """
    policy, selection = prepared.policy, customised.selection
    level = customised.subtree.level_of(customised.reported.column_cells[0])
    everywhere = prepared.public_map.subtrees(policy.privacy_level)
    subtrees = (customised.subtree,) if policy.voids_geo_ind else everywhere
    costs = (
        guarantee_of(policy, customise(prepared, selection, subtree, level)).between_leaves_per_km
        for subtree in subtrees
    )
    return max(*costs, selection.request.epsilon_per_km)


def _report(prepared: Prepared, given: Given) -> Report:
    level = prepared.public_map.leaf_resolution - cells.resolution_of(given.cell)
    return Report(prepared.selection.request.map_id, given.cell, level)
