"""What to ask for and what to remove: S, δ and the request (Paper: §5.2, steps 3 and 4).

All of it follows from the policy and the public map, never from where the user is (ADR 11).
``|S|`` of her own subtree would tell which subtree it is, so S is counted in *every* subtree of the
level; δ is the largest count, padded up to the catalogue. Rules on public attributes become a
filter of the catalogue where one fits. A wish for protection snaps to the next stricter entry.

Where even the catalogue's largest δ is too small, ``on_excess`` decides (Paper: §5.3), for the
whole map. The request is made all the same, for the largest δ there is: that none is made would be
a message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from geocorgi.device.decoys import decoys_over_map
from geocorgi.device.offers import Offers, offers_for
from geocorgi.device.policy import OnExcess, Policy
from geocorgi.device.removal import Removal, Rule, fitting_filters, left_out
from geocorgi.device.secret import DeviceSecret
from geocorgi.errors import InvalidPolicy, PolicyNotMet
from geocorgi.matrix.prunable import Rows
from geocorgi.tree import cells
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import ForestRequest, request_for
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap


class Mechanism(StrEnum):
    """Where the matrix comes from."""

    FOREST = "forest"
    UNIVERSAL = "universal"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked of the server, and what leaves the matrices on the device.

    ``needed_delta`` is the largest number of cells that the rules take from a subtree beyond the
    filter. ``set_aside`` are the rules that ``on_excess = "fewer"`` gave up.
    """

    request: ForestRequest
    mechanism: Mechanism
    removal: Removal
    needed_delta: int
    left_out: frozenset[str] = field(repr=False)
    decoys: frozenset[str] = field(default=frozenset(), repr=False)
    set_aside: tuple[Rule, ...] = ()

    @property
    def pruned(self) -> frozenset[str]:
        """S over the whole map: what the device takes out of the matrices itself."""
        return (self.removal.removed | self.decoys) - self.left_out

    @property
    def never_reported(self) -> frozenset[str]:
        """All leaves that are not reported: S, and what the filter leaves out."""
        return self.pruned | self.left_out


def select(
    policy: Policy, public_map: PublicMap, removal: Removal, secret: DeviceSecret
) -> Selection:
    """Return what the policy comes to on this map, or refuse what the map cannot give."""
    _require_decoys_possible(policy)
    offers = offers_for(policy, public_map)
    if policy.voids_geo_ind:  # S depends on where she is, so nothing of it may be asked for
        return _asking_for_most(policy, public_map, removal, offers)
    found = _covered(policy, public_map, removal, offers)
    if found is None:
        found = _exceeding(policy, public_map, removal, offers)
    if not policy.decoys:
        return found
    covers = found.request.delta if found.mechanism is Mechanism.FOREST else found.needed_delta
    subtrees = public_map.subtrees(policy.privacy_level)
    decoys = decoys_over_map(subtrees, found.pruned, found.left_out, covers, secret)
    return replace(found, decoys=decoys)


def selected_here(
    selection: Selection, policy: Policy, removal: Removal, leaves: tuple[str, ...]
) -> Selection:
    """Return the selection of a policy that looks at where the user is: Geo-Ind is void.

    The request has been made before and does not change; nothing of this leaves the device but
    the report itself.
    """
    here = 0
    for kept in _kept(removal, policy.on_excess):
        here = len((kept.removed - selection.left_out).intersection(leaves))
        if here <= selection.request.delta:
            set_aside = removal.rules[len(kept.rules) :]
            return replace(selection, removal=kept, needed_delta=here, set_aside=set_aside)
    if policy.on_excess is not OnExcess.UNIVERSAL:
        raise _too_many(here, selection.request.delta)
    if removal.removed.issuperset(leaves):
        raise PolicyNotMet("the policy removes every cell of the subtree: it reports nothing")
    universal = Mechanism.UNIVERSAL
    return replace(selection, removal=removal, needed_delta=here, mechanism=universal)


def _require_decoys_possible(policy: Policy) -> None:
    if policy.decoys and policy.rows is Rows.DROP:
        raise InvalidPolicy('decoys need rows = "keep": the user may stand in a decoy')
    if policy.decoys and policy.voids_geo_ind:
        raise InvalidPolicy("decoys hide nothing where a preference looks at where the user is")


def _covered(
    policy: Policy, public_map: PublicMap, removal: Removal, offers: Offers
) -> Selection | None:
    """Return the selection that some entry of the catalogue covers, if there is one."""
    for kept in _kept(removal, policy.on_excess):
        for name in (*fitting_filters(kept, public_map), None):
            needed = _largest_count(policy, public_map, kept, name)
            entry = offers.covering(name, needed)
            if entry is not None:
                found = _selection(public_map, entry, kept, needed)
                return replace(found, set_aside=removal.rules[len(kept.rules) :])
    return None


def _exceeding(
    policy: Policy, public_map: PublicMap, removal: Removal, offers: Offers
) -> Selection:
    """Return the selection for the universal mechanism, or refuse, as the policy says."""
    entry = offers.largest((*fitting_filters(removal, public_map), None))
    needed = _largest_count(policy, public_map, removal, entry.filter)
    if policy.on_excess is not OnExcess.UNIVERSAL:
        raise _too_many(needed, entry.delta)
    if emptied := len(removal.emptied(policy.privacy_level)):
        raise PolicyNotMet(
            f"the policy leaves nothing to report in {emptied} of the map's subtrees: choose a "
            'higher privacy_level, remove less, or say on_excess = "fewer"'
        )
    found = _selection(public_map, entry, removal, needed)
    return replace(found, mechanism=Mechanism.UNIVERSAL)


def _asking_for_most(
    policy: Policy, public_map: PublicMap, removal: Removal, offers: Offers
) -> Selection:
    """Return the selection that asks for the largest δ, whatever will be removed of it."""
    entry = offers.largest((*fitting_filters(removal, public_map), None))
    needed = _largest_count(policy, public_map, removal, entry.filter)
    return _selection(public_map, entry, removal, needed)


def _selection(
    public_map: PublicMap, entry: CatalogueEntry, removal: Removal, needed: int
) -> Selection:
    request = request_for(map_id(public_map), entry)
    gone = left_out(entry.filter, public_map)
    return Selection(request, Mechanism.FOREST, removal, needed, gone)


def _kept(removal: Removal, on_excess: OnExcess) -> Iterator[Removal]:
    """Yield the rules to try: all of them, then fewer and fewer if the policy allows it."""
    yield removal
    if on_excess is OnExcess.FEWER:
        for count in range(len(removal.rules) - 1, -1, -1):
            yield removal.first(count)


def _largest_count(
    policy: Policy, public_map: PublicMap, removal: Removal, name: str | None
) -> int:
    """Return the largest ``|S|`` of any subtree of the level."""
    resolution = public_map.leaf_resolution - policy.privacy_level
    gone = removal.removed - left_out(name, public_map)
    return max(Counter(cells.ancestor(leaf, resolution) for leaf in gone).values(), default=0)


def _too_many(needed: int, offered: int) -> PolicyNotMet:
    return PolicyNotMet(
        f"the policy removes up to {needed} cells of a subtree and the map offers {offered} at "
        'most: remove less, or say on_excess = "universal" or "fewer"'
    )
