"""S over the whole map: which leaves are removed, by which rule, and what a filter can take over.

Every leaf there is has its answer, never the user's own subtree alone (ADR 11).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from geocorgi.tree import cells
from geocorgi.wire.public_map import PublicMap


@dataclass(frozen=True, slots=True)
class Rule:
    """One preference or area, and the leaves that it removes.

    ``public`` where it follows from the public map alone, so that asking for it tells no place.
    ``note`` says what was decided about cells of unknown value.
    """

    text: str
    removes: frozenset[str] = field(repr=False)
    public: bool = False
    line: int | None = None
    note: str | None = None

    @property
    def reason(self) -> str:
        """The rule and where it stands."""
        return self.text if self.line is None else f"{self.text} (line {self.line})"


@dataclass(frozen=True, slots=True)
class Removal:
    """S over the whole map. ``rules`` stand in order: areas, then preferences as written."""

    leaves: tuple[str, ...] = field(repr=False)
    rules: tuple[Rule, ...]
    voids_geo_ind: bool = False

    @property
    def removed(self) -> frozenset[str]:
        """Every leaf that some rule removes."""
        return frozenset().union(*(rule.removes for rule in self.rules))

    @property
    def publicly_removed(self) -> frozenset[str]:
        """What the rules on public attributes remove: what may be asked for as a filter."""
        return frozenset().union(*(rule.removes for rule in self.rules if rule.public))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided about cells of unknown value, a sentence each."""
        return tuple(rule.note for rule in self.rules if rule.note)

    def reasons(self, leaf: str) -> tuple[str, ...]:
        """Return why a leaf is removed; nothing where it stays."""
        return tuple(rule.reason for rule in self.rules if leaf in rule.removes)

    def first(self, count: int) -> Removal:
        """Return the removal by the first rules only: the last preferences go first."""
        return replace(self, rules=self.rules[:count])

    def emptied(self, level: int) -> tuple[str, ...]:
        """Return the subtrees of a level of which no leaf stays, by their roots."""
        resolution = cells.resolution_of(self.leaves[0]) - level
        staying = self.removed
        roots = dict.fromkeys(cells.ancestor(leaf, resolution) for leaf in self.leaves)
        alive = {cells.ancestor(leaf, resolution) for leaf in self.leaves if leaf not in staying}
        return tuple(root for root in roots if root not in alive)


def fitting_filters(removal: Removal, public_map: PublicMap) -> tuple[str, ...]:
    """Return the map's filters that remove only what the policy's public rules remove too.

    Those that remove most come first. Asked with such a filter, the server leaves its cells out of
    the columns and δ has to cover the rest alone.
    """
    wanted = removal.publicly_removed
    failing = {name: left_out(name, public_map) for name in public_map.filters}
    fitting = [name for name, gone in failing.items() if gone and gone <= wanted]
    return tuple(sorted(fitting, key=lambda name: (-len(failing[name]), name)))


def left_out(name: str | None, public_map: PublicMap) -> frozenset[str]:
    """Return the leaves that do not pass a filter; None leaves nothing out."""
    if name is None:
        return frozenset()
    return frozenset(public_map.leaves) - frozenset(public_map.filters[name])
