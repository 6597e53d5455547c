"""Rows of a table in blocks that fit a cache, shared out to all cores.

Every block is met by every row while it stays in the cache; a table of thousands of rows would
otherwise be fetched from memory once for each of them. What comes out does not depend on the
number of cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

BLOCK_ENTRIES = 65_536  # 256 kB of single floats: with its result a block fits a second-level cache
MOST_THREADS = 8
LEAST_BLOCKS = 8

Result = TypeVar("Result")
Floats = NDArray[np.float32]


class Block:
    """The rows from ``start`` to before ``stop`` of a table, and room for what is made of them."""

    def __init__(self, table: Floats, rows: slice) -> None:
        self.start, self.stop = rows.start, rows.stop
        self._table = table
        self._space = np.empty_like(table[rows])

    def taken_from(self, row: Floats, rows: slice | NDArray[np.intp]) -> Floats:
        """Return ``row`` minus the table's ``rows``, all in the block; valid until the next."""
        chosen = self._table[rows]
        return np.subtract(row, chosen, out=self._space[: len(chosen)])


def blocks_of(table: Floats) -> list[slice]:
    """Cut the table's rows into blocks."""
    rows, columns = table.shape
    height = max(1, min(BLOCK_ENTRIES // max(columns, 1), -(-rows // LEAST_BLOCKS)))
    return [slice(start, min(start + height, rows)) for start in range(0, rows, height)]


def on_all_cores(function: Callable[[Block], Result], table: Floats) -> list[Result]:
    """Call the function with every block; numpy lets go of the interpreter while it computes."""
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda rows: function(Block(table, rows)), blocks_of(table)))
