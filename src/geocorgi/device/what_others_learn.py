"""What the server and a recipient learn, and what nobody promises, as sentences.

The threat model behind them is ``docs/threat-model.md``; here stands what is so for one policy.
"""

from __future__ import annotations

from geocorgi.device.hiding_area import smallest_area_km2
from geocorgi.device.offers import wished_per_km
from geocorgi.device.policy import Policy, Precision
from geocorgi.device.preparation import Prepared
from geocorgi.device.selection import Mechanism, Selection
from geocorgi.matrix.prunable import Rows


def server_learns(prepared: Prepared, selection: Selection) -> tuple[str, ...]:
    """Return what whoever serves forests can tell from being asked."""
    policy, request = prepared.policy, selection.request
    said = [
        f"that somebody at this network address, at this time, asked for privacy level "
        f"{request.privacy_level}, delta {request.delta}, rows {request.rows}, "
        f"{request.epsilon_per_km:g} per km of this map; it is the same request wherever she is",
    ]
    if (shard := prepared.public_map.shard) is not None:
        said.append(
            f"that she asked for one shard of {len(shard.roots_of_region)}, and so in which part "
            "of the region she takes an interest, unless the others are fetched as well (geocorgi "
            "sync fetches all)"
        )
    if (wished := wished_per_km(policy.protection)) != request.epsilon_per_km:
        said.append(
            f"which of the epsilons on offer is next below the wish ({wished:.6g} per km): the "
            "choice is visible, the wish is not"
        )
    if request.filter is not None:
        said.append(
            f"the filter '{request.filter}': what kind of places she reports (private = true "
            "keeps it on the device, at a loss)"
        )
    said += [
        f"the source '{name}' is told one subtree, by the policy's own choice"
        for name in policy.asked_for_one_subtree
    ]
    if any(source.url and not source.subtree for source in policy.sources.values()):
        said.append("each source of attributes: that somebody asked for the whole map")
    return tuple(said)


def recipient_learns(
    prepared: Prepared, selection: Selection, precision_level: int
) -> tuple[str, ...]:
    """Return what whoever gets the reports can tell."""
    policy = prepared.policy
    area = smallest_area_km2(prepared.public_map, policy.privacy_level)
    said = [
        f"a cell at level {precision_level}, and so which subtree of level "
        f"{policy.privacy_level} the user is in, an area of {area:.2g} km² or more",
        "that a report changed, and so that the user moved or asked for a fresh one",
    ]
    if selection.never_reported:
        decoys = "decoys among them" if policy.decoys else "decoys = true hides yours among others"
        said.append(f"over many reports, which cells never come ({decoys})")
    if policy.rows is Rows.DROP:
        said.append("that the user is in none of the removed cells; from a silence, that she is")
    return tuple(said)


def not_guaranteed(prepared: Prepared, selection: Selection) -> tuple[str, ...]:
    """Return what does not hold, or only so far."""
    policy = prepared.policy
    said = list(_void(policy))
    if policy.precision is Precision.AVERAGE:
        said.append("averaging (Eq. 17) keeps a larger epsilon than was asked for: see 'here'")
    if selection.set_aside:
        rules = ", ".join(rule.reason for rule in selection.set_aside)
        said.append(f"these preferences are not kept, for too many cells would leave: {rules}")
    if selection.mechanism is Mechanism.UNIVERSAL:
        said.append("the least loss: the universal mechanism pays for private removals of any size")
    said += [
        "anything across a subtree's border, or below the distance between two cells' centres",
        "one epsilon for many places: fresh reports add up (geocorgi budget)",
        "anything against an adversary who knows more than the public prior, beyond epsilon",
    ]
    return tuple(said)


def _void(policy: Policy) -> list[str]:
    if not policy.voids_geo_ind:
        return []
    return ["geo-indistinguishability: a preference measures from where the user is"]
