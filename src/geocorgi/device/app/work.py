"""What the page asks the device to do; each takes a while and runs beside the page.

Choosing looks at the map and the policy alone and contacts nobody but the sources that the policy
names; checking fetches the forest and judges it, as for a report; reporting draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from geocorgi.device import preparation
from geocorgi.device.app.job import Job
from geocorgi.device.app.origin import Door, Origin
from geocorgi.device.customising import Customised
from geocorgi.device.explanation import Explanation, explain
from geocorgi.device.memory import Given, Memory, Terms
from geocorgi.device.obfuscate import Obfuscated, customised_for, obfuscate
from geocorgi.device.policy import Policy
from geocorgi.device.selection import Selection
from geocorgi.device.what_others_learn import not_guaranteed, recipient_learns, server_learns
from geocorgi.device.whereabouts import RealLeaf, Whereabouts
from geocorgi.wire.map_codec import decode_map
from geocorgi.wire.public_map import PublicMap


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a policy comes to on the map, before anybody is asked for a forest."""

    selection: Selection
    server_learns: tuple[str, ...]
    recipient_learns: tuple[str, ...]
    not_guaranteed: tuple[str, ...]

    def reasons(self, leaf: str) -> tuple[str, ...]:
        """Return why a leaf is never reported; nothing where it may be."""
        selection = self.selection
        if leaf not in selection.never_reported:
            return ()
        said = selection.removal.reasons(leaf)
        decoy = ("a decoy",) if leaf in selection.decoys else ()
        return said + decoy or ("the filter leaves it out",)


@dataclass(frozen=True, slots=True)
class Checked:
    """What truly holds, of a forest that was fetched and judged, for the user's own subtree."""

    explanation: Explanation
    customised: Customised


def fetch_map(door: Door, origin: Origin) -> Callable[[Job], PublicMap]:
    """Return the work that fetches the public map."""

    def work(job: Job) -> PublicMap:
        job.say(f"asking {origin} for its map")
        with door(origin, job) as device:
            return decode_map(device.maps.public_map())

    return work


def choose(
    door: Door, origin: Origin, policy: Policy, public_map: PublicMap
) -> Callable[[Job], Chosen]:
    """Return the work that finds S, δ and the request."""

    def work(job: Job) -> Chosen:
        job.say("looking up what the policy removes of the map")
        with door(origin, job) as device:
            prepared = preparation.choose(policy, public_map, device)
        selection = prepared.selection
        return Chosen(
            selection,
            server_learns(prepared, selection),
            recipient_learns(prepared, selection, policy.precision_level),
            not_guaranteed(prepared, selection),
        )

    return work


def check(
    door: Door, origin: Origin, policy: Policy, level: int, real_leaf: RealLeaf
) -> Callable[[Job], Checked]:
    """Return the work that fetches and judges the forest; nothing is drawn, charged or kept."""

    def work(job: Job) -> Checked:
        job.say("asking for the forest")
        with door(origin, job) as device:
            prepared = preparation.prepare(policy, device)
        job.say("measuring what holds where you are")
        customised = customised_for(prepared, real_leaf, level)
        return Checked(explain(prepared, level, real_leaf), customised)

    return work


@dataclass(frozen=True, slots=True)
class Wish:
    """For whom a report is, and whether it is to be drawn anew."""

    recipient: str
    anew: bool = False


def report(
    door: Door, origin: Origin, policy: Policy, whereabouts: Whereabouts, wish: Wish
) -> Callable[[Job], Obfuscated]:
    """Return the work that reports; it can be stopped until the draw is charged."""

    def work(job: Job) -> Obfuscated:
        job.say("asking for the forest")
        with door(origin, job) as device:
            stoppable = replace(device, memory=_Stoppable(device.memory, job))
            return obfuscate(whereabouts, policy, stoppable, wish.recipient, anew=wish.anew)

    return work


@dataclass(frozen=True, slots=True)
class _Stoppable:
    """A memory that is asked for nothing once its user has stopped the work."""

    memory: Memory
    job: Job

    def report(self, real_leaf: str, draw: Callable[[], str], terms: Terms) -> Given:
        self.job.point_of_no_return()
        return self.memory.report(real_leaf, draw, terms)
