"""What a map's catalogue offers to a policy: the next stricter epsilon, and deltas by filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geocorgi.device.policy import Policy, Protection
from geocorgi.errors import PolicyNotMet
from geocorgi.matrix.protection_radius import epsilon_within
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.public_map import PublicMap


@dataclass(frozen=True, slots=True)
class Offers:
    """The entries of one privacy level, mode and epsilon, by filter and in ascending δ."""

    entries: Mapping[str | None, tuple[CatalogueEntry, ...]]

    def covering(self, name: str | None, delta: int) -> CatalogueEntry | None:
        """Return the entry of the smallest δ that is large enough, if there is one."""
        fitting = (entry for entry in self.entries.get(name, ()) if entry.delta >= delta)
        return next(fitting, None)

    def largest(self, names: tuple[str | None, ...]) -> CatalogueEntry:
        """Return the entry of the largest δ of the first of the filters that is offered at all."""
        offered = next((self.entries[name] for name in names if name in self.entries), None)
        if offered is None:
            raise PolicyNotMet("the map offers this level with filters only that remove too much")
        return offered[-1]


def offers_for(policy: Policy, public_map: PublicMap) -> Offers:
    """Return what is offered at the policy's level and mode, at the next stricter epsilon."""
    level, rows = policy.privacy_level, policy.rows
    entries = [
        entry
        for entry in public_map.catalogue
        if (entry.privacy_level, entry.rows) == (level, rows)
    ]
    if not entries:
        raise PolicyNotMet(f"the map offers {_offered(public_map)}, not level {level} with {rows}")
    epsilon = _stricter(
        wished_per_km(policy.protection), sorted({e.epsilon_per_km for e in entries})
    )
    by_filter: dict[str | None, list[CatalogueEntry]] = {}
    for entry in entries:  # a catalogue's order is ascending in δ
        if entry.epsilon_per_km == epsilon:
            by_filter.setdefault(entry.filter, []).append(entry)
    return Offers({name: tuple(found) for name, found in by_filter.items()})


def wished_per_km(protection: Protection) -> float:
    """Return the wish as an epsilon: as it is, or the one of the wished radius."""
    if protection.radius_km is not None:
        return epsilon_within(protection.radius_km)
    return float(protection.epsilon_per_km or 0.0)  # exactly one of the two is there


def _stricter(wish_per_km: float, offered: list[float]) -> float:
    stricter = [epsilon for epsilon in offered if epsilon <= wish_per_km]
    if not stricter:
        raise PolicyNotMet(
            f"the policy wants at most {wish_per_km:g} per km and the strictest on offer is "
            f"{offered[0]:g}: ask the map's server for a stricter one, or accept that"
        )
    return stricter[-1]


def _offered(public_map: PublicMap) -> str:
    modes: dict[int, set[Rows]] = {}
    for entry in public_map.catalogue:
        modes.setdefault(entry.privacy_level, set()).add(entry.rows)
    listed = (f"level {level} with {' and '.join(sorted(modes[level]))}" for level in sorted(modes))
    return ", ".join(listed) or "nothing"
