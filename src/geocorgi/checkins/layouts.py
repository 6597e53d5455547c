"""How check-ins are written down: which field is which, and what separates them.

The five columns that every reader hands out have the names of ``COLUMNS``; a :class:`Columns`
says under which name a file keeps each. User, time and location may be absent (None): the points
of a map without their visitors are a layout too.
"""

from __future__ import annotations

from dataclasses import dataclass

from geocorgi.errors import InvalidInput

COLUMNS = ("user", "time", "latitude", "longitude", "location")


@dataclass(frozen=True, slots=True)
class Columns:
    """The names under which a file keeps what a check-in consists of; None for "it does not".

    ``kept`` names further columns of the file, handed out as they are.
    """

    user: str | None = "user"
    time: str | None = "time"
    latitude: str = "latitude"
    longitude: str = "longitude"
    location: str | None = "location"
    kept: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        named = [*self.present().values(), *self.kept]
        if len(set(named)) != len(named):
            raise InvalidInput("one column cannot be two parts of a check-in; name each once")

    def present(self) -> dict[str, str]:
        """Return our name and the file's name of each column that the file has."""
        named = {ours: getattr(self, ours) for ours in COLUMNS}
        return {ours: theirs for ours, theirs in named.items() if theirs is not None}

    def carried(self) -> dict[str, str]:
        """Return under which name each kept column is handed out, and the file's name of it."""
        return {f"kept {theirs}": theirs for theirs in self.kept}


@dataclass(frozen=True, slots=True)
class Layout:
    """A text layout: one row a line, ``names`` in order (None: the first line names them).

    Quotation marks mean something only where ``quoted``; even there a row is one line, so a
    quoted newline is a defect: line numbers stay true and a stray quote cannot swallow a file.
    """

    columns: Columns = Columns()
    separator: str = ","
    names: tuple[str, ...] | None = None
    quoted: bool = True

    def __post_init__(self) -> None:
        single = len(self.separator) == 1 and self.separator.isascii()
        if not single or self.separator in '"\r\n':
            raise InvalidInput("a separator is one ASCII character, not a quote or line end")


SNAP = Layout(separator="\t", names=COLUMNS, quoted=False)
POINTS = Layout(
    Columns(user=None, time=None, location=None),
    separator="\t",
    names=("latitude", "longitude"),
    quoted=False,
)
