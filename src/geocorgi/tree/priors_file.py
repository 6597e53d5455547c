"""Priors as a CSV file: the header ``cell,weight``, then one cell a line, in any order.

Messages say file and line, never the cell: where nobody has been is public, but which cell
somebody cared to write into a file may not be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from geocorgi.errors import BadFile, InvalidCell, InvalidPriors
from geocorgi.files import write_atomically
from geocorgi.tree.cells import require_cell
from geocorgi.tree.priors import Priors

HEADER = ["cell", "weight"]
NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
LONGEST_LINE = 200


def write_priors(priors: Priors, path: str | Path) -> None:
    """Write the weights so that reading them gives the same, bit for bit."""
    rows = zip(priors.cells, priors.weights.tolist(), strict=True)
    lines = [",".join(HEADER), *(f"{cell},{weight!r}" for cell, weight in rows)]
    write_atomically(Path(path), "".join(f"{line}\n" for line in lines).encode("ascii"))


def read_weights(path: str | Path) -> Priors:
    """Return every cell of the file with its weight, in the file's order."""
    name = Path(path).name
    weights: dict[str, float] = {}
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            for line, cell, weight in _rows(file, name):
                if cell in weights:
                    raise InvalidPriors(f"{name}, line {line}: the cell is there twice")
                weights[cell] = weight
    except UnicodeDecodeError:
        raise InvalidPriors(f"{name} is not UTF-8 text; expected lines of cell,weight") from None
    except OSError as refusal:
        raise BadFile(f"{name} cannot be read: {refusal.strerror}") from refusal
    if not weights:
        raise InvalidPriors(f"{name} has no cell below its header cell,weight")
    return Priors(tuple(weights), np.array(list(weights.values())))


def read_priors(path: str | Path, cells: Sequence[str], *, missing_as_zero: bool = False) -> Priors:
    """Return the priors of ``cells``, in their order, from a file that has each of them once.

    A cell that the file lacks is an error, unless ``missing_as_zero``.
    """
    wanted = [require_cell(cell) for cell in cells]
    found = read_weights(path)
    known = dict(zip(found.cells, found.weights.tolist(), strict=True))
    if unknown := len(known.keys() - set(wanted)):
        raise InvalidPriors(f"{Path(path).name} has {unknown} cells that were not asked for")
    missing = sum(cell not in known for cell in wanted)
    if missing and not missing_as_zero:
        raise InvalidPriors(
            f"{Path(path).name} lacks {missing} of {len(wanted)} cells; add them with weight 0, or "
            "read the file with missing_as_zero=True"
        )
    return Priors(tuple(wanted), np.array([known.get(cell, 0.0) for cell in wanted]))


def _rows(file: TextIO, name: str) -> Iterator[tuple[int, str, float]]:
    for line, text in enumerate(iter(lambda: file.readline(LONGEST_LINE), ""), 1):
        fields = [field.strip() for field in text.strip().split(",")]
        if line == 1:
            if fields != HEADER:
                raise InvalidPriors(f"{name}, line 1: expected the header cell,weight")
            continue
        if fields == [""]:
            continue
        if len(fields) != 2:
            raise InvalidPriors(f"{name}, line {line}: expected two fields, cell,weight")
        yield line, _cell(fields[0], name, line), _weight(fields[1], name, line)


def _cell(text: str, name: str, line: int) -> str:
    try:
        return require_cell(text)
    except InvalidCell:
        raise InvalidPriors(f"{name}, line {line}: the first field is not an H3 cell") from None


def _weight(text: str, name: str, line: int) -> float:
    weight = float(text) if NUMBER.fullmatch(text) else np.nan
    if not np.isfinite(weight):
        raise InvalidPriors(
            f"{name}, line {line}: a weight is a finite number, zero or more, such as 12 or 0.5"
        )
    return weight
