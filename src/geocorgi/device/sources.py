"""Where the values of a variable come from, as a policy declares it: a table or an address.

Declared only; :mod:`geocorgi.device.attributes` reads and asks. An address is asked for the whole
map, always, unless the policy itself names one ``subtree``: that opt-in tells the provider which
one, but it is written in the policy and does not move with the user. Nobody is ever asked for the
cell where she is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

from geocorgi.device.network.address import ServerAddress
from geocorgi.device.preferences import refused_at
from geocorgi.device.units import BASE, UNITS, Kind, units_of
from geocorgi.errors import InvalidInput
from geocorgi.tree.cells import require_cell

TIME_TO_LIVE = timedelta(hours=1)
TIME_OUT = timedelta(seconds=10)
LONGEST_TIME_OUT = timedelta(minutes=2)
NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class Source:
    """One variable's source; exactly one of ``table`` (a file) and ``url`` is given.

    A url may hold ``{roots}``, ``{resolution}`` and ``{map_id}``. ``unit`` is that of the numbers
    as they come. What an address said is used again until ``time_to_live`` has passed.
    """

    kind: Kind
    table: str | None = None
    url: str | None = field(default=None, repr=False)
    unit: str | None = None
    column: str | None = None
    time_to_live: timedelta = TIME_TO_LIVE
    time_out: timedelta = TIME_OUT
    subtree: str | None = None
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse a source that cannot be asked."""
        if (self.table is None) == (self.url is None):
            raise refused_at(self.line, "a source has either a table or a url")
        if self.url is not None:
            self._require_address(self.url)
        object.__setattr__(self, "unit", self._require_unit())
        if self.time_to_live < NO_TIME:
            raise refused_at(self.line, "a time to live is zero or more")
        if not NO_TIME < self.time_out <= LONGEST_TIME_OUT:
            raise refused_at(self.line, "a time-out is above zero and at most two minutes")
        if self.subtree is not None:
            object.__setattr__(self, "subtree", self._require_subtree(self.subtree))

    def _require_address(self, url: str) -> None:
        """Refuse an address that somebody on the way could answer: S would be theirs to move."""
        try:
            parts = urlsplit(url)
            ServerAddress(f"{parts.scheme}://{parts.netloc}/")
        except (InvalidInput, ValueError):
            raise refused_at(
                self.line,
                "a source's url begins with https:// (http:// to this machine alone) and a host, "
                "without a user's name",
            ) from None

    def _require_subtree(self, subtree: str) -> str:
        if self.url is None:
            raise refused_at(self.line, "only a url can be asked for one subtree")
        try:
            return require_cell(subtree)
        except InvalidInput as refusal:
            raise refused_at(self.line, str(refusal)) from None

    def _require_unit(self) -> str | None:
        base = BASE.get(self.kind)
        if self.unit is None:
            return base
        if self.unit not in UNITS or UNITS[self.unit].kind is not self.kind:
            known = units_of(self.kind)
            way_out = f"use one of {known}" if known else f"a {self.kind} has no unit"
            raise refused_at(
                self.line, f"the source's unit is not that of a {self.kind}: {way_out}"
            )
        return self.unit
