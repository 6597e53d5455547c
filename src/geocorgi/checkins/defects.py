"""What can be wrong with a row of check-ins, and the account of what was.

A bad row has exactly one kind: the first that applies, in the order in which :class:`Kind` lists
them. The account holds file names, line numbers and kinds; it never holds what a row said.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from geocorgi.errors import BadCheckins

LINES_KEPT_A_KIND = 5


class Kind(StrEnum):
    """The kinds of bad row, in order of precedence."""

    CUT = "row cut short where the compressed file breaks"
    TOO_LONG = "line longer than 65536 bytes"
    BROKEN_TEXT = "broken UTF-8"
    BROKEN_QUOTES = "broken quotation marks"
    EXTRA_FIELD = "more fields than the layout has"
    MISSING_FIELD = "missing field"
    BAD_TIME = "not a time like 2010-10-19T23:55:27Z"
    NOT_A_NUMBER = "text where a number belongs"
    NOT_FINITE = "a coordinate that is NaN or infinite"
    LATITUDE = "latitude outside -90 to 90"
    LONGITUDE = "longitude outside -180 to 180"


KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Defect:
    """How many rows had one kind of defect, and the lines of the first few."""

    kind: Kind
    rows: int
    first_lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DefectReport:
    """The account of the rows that were read: ``rows_in == rows_good + rows_bad``, always.

    Blank lines are not rows; they are counted beside. ``broken_after_line`` is the last complete
    line before a gzip file breaks (truncated, corrupt, or followed by something else), or None.
    """

    source: str
    rows_in: int = 0
    blank_lines: int = 0
    defects: tuple[Defect, ...] = ()
    broken_after_line: int | None = None

    @property
    def rows_bad(self) -> int:
        """Rows that were skipped."""
        return sum(defect.rows for defect in self.defects)

    @property
    def rows_good(self) -> int:
        """Rows that were kept."""
        return self.rows_in - self.rows_bad

    def __add__(self, later: DefectReport) -> DefectReport:
        """Return the account of both parts of one source, ``later`` following ``self``."""
        found = (*self.defects, *later.defects)
        breaks = [
            line for line in (self.broken_after_line, later.broken_after_line) if line is not None
        ]
        return DefectReport(
            self.source,
            self.rows_in + later.rows_in,
            self.blank_lines + later.blank_lines,
            tuple(
                _joined(kind, tuple(defect for defect in found if defect.kind is kind))
                for kind in KINDS
                if any(defect.kind is kind for defect in found)
            ),
            breaks[0] if breaks else None,
        )

    def __str__(self) -> str:
        lines = [f"{self.source}: {self.rows_in} rows, {self.rows_good} good, {self.rows_bad} bad"]
        if self.blank_lines:
            lines.append(f"  {self.blank_lines} blank lines")
        for defect in self.defects:
            shown = ", ".join(map(str, defect.first_lines))
            more = ", ..." if defect.rows > len(defect.first_lines) else ""
            lines.append(f"  {defect.rows} x {defect.kind.value} (line {shown}{more})")
        if self.broken_after_line is not None:
            lines.append(f"  the compressed file breaks after line {self.broken_after_line}")
        return "\n".join(lines)


def refuse_defects(report: DefectReport) -> None:
    """Raise BadCheckins for the first bad row or break, if there is one."""
    way_out = "mend the file, or read it with strict=False to count and skip such rows"
    if report.defects:
        first = min(report.defects, key=lambda defect: defect.first_lines[0])
        raise BadCheckins(
            f"{report.source}, line {first.first_lines[0]}: {first.kind.value}; {way_out}"
        )
    if report.broken_after_line is not None:
        raise BadCheckins(
            f"{report.source}: the compressed file breaks after line "
            f"{report.broken_after_line}; {way_out}"
        )


def tally(codes: NDArray[np.integer], lines: NDArray[np.integer]) -> tuple[Defect, ...]:
    """Return the defects of rows whose kinds are ``codes`` (positions in KINDS, -1 for none)."""
    defects = []
    for code in np.unique(codes[codes >= 0]).tolist():
        where = np.flatnonzero(codes == code)
        first = tuple(int(line) for line in lines[where[:LINES_KEPT_A_KIND]])
        defects.append(Defect(KINDS[code], len(where), first))
    return tuple(defects)


def _joined(kind: Kind, defects: tuple[Defect, ...]) -> Defect:
    lines = sorted(line for defect in defects for line in defect.first_lines)
    return Defect(kind, sum(defect.rows for defect in defects), tuple(lines[:LINES_KEPT_A_KIND]))
