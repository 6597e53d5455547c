"""What a memory of reports is asked and what it answers (ADR 10).

n fresh reports from one place cost n times epsilon, and their average finds the place. So a device
remembers the leaf that it once drew for a real leaf and gives it again, free of charge, whatever
the precision, recipient, map version or epsilon: a coarser audience gets its ancestor. A new leaf
is drawn, and charged, only for a new place, where no remembered leaf may be reported any more, or
when the user asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol

from geocorgi.device.budget import Balance
from geocorgi.device.policy import Budget
from geocorgi.device.recipient import require_recipient
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.prunable import Rows
from geocorgi.tree.cells import (
    COARSEST_RESOLUTION,
    ancestor,
    require_resolution,
    resolution_of,
)


@dataclass(frozen=True, slots=True)
class Keeps:
    """What a draw keeps for good, whatever is asked for by the time it is given again.

    It keeps the epsilon that it was charged, inside a subtree whose root is of the resolution
    ``area_resolution``, for the real places of ``rows``.
    """

    epsilon_per_km: float
    area_resolution: int
    rows: Rows

    def __post_init__(self) -> None:
        """Refuse what no draw could keep."""
        require_resolution(self.area_resolution)
        object.__setattr__(self, "epsilon_per_km", require_epsilon(self.epsilon_per_km))
        object.__setattr__(self, "rows", Rows(self.rows))

    def at_least(self, wanted: Keeps) -> bool:
        """Return whether nothing of what is wanted is lacking."""
        as_near = self.epsilon_per_km <= wanted.epsilon_per_km
        as_wide = self.area_resolution <= wanted.area_resolution
        return as_near and as_wide and (self.rows is Rows.KEEP or wanted.rows is Rows.DROP)


def weakest(several: Iterable[Keeps | None]) -> Keeps | None:
    """Return what all of several draws keep, None where there is none."""
    found = [one for one in several if one is not None]
    if not found:
        return None
    return Keeps(
        max(one.epsilon_per_km for one in found),
        max(one.area_resolution for one in found),
        min(one.rows for one in found),  # 'drop' comes before 'keep'
    )


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a report is given: everything but where the user is.

    None of it may depend on where the user is: ``epsilon_per_km``, what a fresh draw costs, is one
    for the whole map. ``resolution`` is that of the cell handed out. ``removed`` are the leaves
    that must not be reported now, whatever was reported once. With ``remembered=False`` (the
    precision ``average``) every report is a fresh draw, of a cell that is handed out as it is
    drawn. ``anew`` is the user's explicit wish for a fresh draw. ``apart`` where the policy looks
    at where the user is: such draws keep no epsilon, and no other policy's report rests on them.
    ``area_resolution`` and ``rows`` are what else a fresh draw keeps (:class:`Keeps`). ``roots``
    are those of the map: of a leaf that is not on it nobody can say whether the policy removes it.
    Without any it is a map of everything.
    """

    recipient: str
    epsilon_per_km: float
    resolution: int
    removed: AbstractSet[str] = frozenset()
    budget: Budget = field(default_factory=Budget)
    remembered: bool = True
    anew: bool = False
    apart: bool = False
    area_resolution: int = COARSEST_RESOLUTION
    rows: Rows = Rows.KEEP
    roots: AbstractSet[str] = frozenset()

    def allows(self, drawn: str) -> bool:
        """Return whether what was drawn may be reported now: it is on the map and not removed."""
        if not self.roots:
            return drawn not in self.removed
        coarsest = resolution_of(next(iter(self.roots)))
        below = resolution_of(drawn) >= coarsest and ancestor(drawn, coarsest) in self.roots
        return below and drawn not in self.removed

    @property
    def keeps(self) -> Keeps:
        """What a fresh draw on these terms keeps."""
        return Keeps(self.epsilon_per_km, self.area_resolution, self.rows)

    def __post_init__(self) -> None:
        """Refuse terms that nobody could keep or list."""
        require_recipient(self.recipient)
        require_resolution(self.resolution)
        object.__setattr__(self, "epsilon_per_km", require_epsilon(self.epsilon_per_km))


@dataclass(frozen=True, slots=True)
class Given:
    """What may be handed out: it is charged and remembered already.

    ``fresh`` if it was drawn and charged just now; ``repeated`` if the ceiling is reached and this
    is the last report once more, wherever the user may be by now. ``keeps`` is what the draw
    promised when it was one: a replay keeps that, whatever is asked for by now.
    """

    cell: str
    fresh: bool
    repeated: bool
    balance: Balance
    keeps: Keeps


class Memory(Protocol):
    """Remembers draws and charges fresh ones."""

    def report(self, real_leaf: str, draw: Callable[[], str], terms: Terms) -> Given:
        """Return the cell to hand out; ``draw`` is called for a fresh one, or raise BudgetSpent.

        A fresh draw is charged, durably, before it is returned. If ``draw`` raises, nothing has
        happened.
        """
