"""All of Algorithm 4 that does not look at where the user is (Paper: §5.2, steps 3 to 5).

Map, S, δ, request, acceptance: whatever is asked of anybody is asked here, and a refusal here is
the same wherever the user is. A forest is asked for even where the universal mechanism will be
used, so that its absence says nothing. Where none can be had the policy may allow the universal
mechanism in its place: the same cells are removed, and the guarantee is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from geocorgi.device.acceptance import Accepted, Progress, accept
from geocorgi.device.attributes.values import Attributes
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.hiding_area import require_area
from geocorgi.device.memory import Memory
from geocorgi.device.policy import OnUnreachable, Policy
from geocorgi.device.secret import DeviceSecret
from geocorgi.device.selection import Mechanism, Selection, select
from geocorgi.device.transport import ForestSource, MapSource
from geocorgi.device.verdicts import Verdicts
from geocorgi.errors import NotOffered, NotReady, Unreachable
from geocorgi.wire.map_codec import decode_map
from geocorgi.wire.public_map import PublicMap

AttributesOf = Callable[[Policy, PublicMap], Attributes]
Settle = Callable[[Sequence[str]], str]


def nothing_known(_policy: Policy, _public_map: PublicMap) -> Attributes:
    """Return no attributes: the public map is all there is."""
    return {}


def where_she_stands(near: Sequence[str]) -> str:
    """Return the user's own leaf: nothing is settled."""
    return near[0]


@dataclass(frozen=True, slots=True)
class Device:
    """What a device has at hand.

    ``attributes`` are asked for the whole map. ``settle`` chooses the leaf to report from among
    those that the user is nearly in, so that a jittering receiver does not spend.
    """

    maps: MapSource
    forests: ForestSource
    memory: Memory
    secret: DeviceSecret
    attributes: AttributesOf = nothing_known
    settle: Settle = where_she_stands
    verdicts: Verdicts | None = None
    on_progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything for a report but the user's place; ``accepted`` is None where no forest came."""

    policy: Policy
    public_map: PublicMap
    attributes: Attributes
    selection: Selection
    accepted: Accepted | None


def choose(policy: Policy, public_map: PublicMap, device: Device) -> Prepared:
    """Find S, δ and the request, before anybody is asked for a forest; no forest came yet."""
    if policy.privacy_level <= public_map.height:  # else 'select' says what there is
        require_area(policy, public_map)  # before any source hears of the map
    attributes = device.attributes(policy, public_map)
    # A policy that looks at the user is asked about the map's first leaf: what is requested must
    # not depend on her, and 'selected_here' decides the rest once she is known.
    anybody = public_map.leaves[0] if policy.voids_geo_ind else None
    removal = removed_over_map(policy, public_map, attributes, anybody)
    selection = select(policy, public_map, removal, device.secret)
    return Prepared(policy, public_map, attributes, selection, None)


def prepare(policy: Policy, device: Device) -> Prepared:
    """Fetch, select, request and accept; the same for every place (ADR 11)."""
    public_map = decode_map(device.maps.public_map())
    chosen = choose(policy, public_map, device)
    request = chosen.selection.request
    try:
        content = device.forests.forest(request)
    except (NotOffered, NotReady, Unreachable):
        if policy.on_unreachable is not OnUnreachable.UNIVERSAL:
            raise
        without = replace(chosen.selection, mechanism=Mechanism.UNIVERSAL)
        return replace(chosen, selection=without)
    accepted = accept(content, public_map, request, device.verdicts, device.on_progress)
    return replace(chosen, accepted=accepted)
