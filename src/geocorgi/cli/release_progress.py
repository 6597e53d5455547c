"""The bar of a release: rows done of about so many, on a terminal and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from geocorgi.terminal import messages


@contextmanager
def release_progress(expected: int | None, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Lend what is told how many more rows are done."""
    if quiet or not messages.is_terminal:
        yield lambda _rows: None
        return
    columns = (
        TextColumn("{task.completed:,} rows"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages, transient=True) as bar:
        task = bar.add_task("rows", total=expected)
        yield lambda rows: bar.advance(task, rows)
