"""A file of many users' rows in, a file of reported cells out: the whole of a release.

Killed anywhere, the same call goes on: what is done is kept beside the file until all of it is,
and the memory is never charged twice. The manifest is written after the file that it names.
"""

from __future__ import annotations

import shutil
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Any

from geocorgi.device.bulk.alone import FILE, alone_in
from geocorgi.device.bulk.bucket import RowsDone
from geocorgi.device.bulk.manifest import write_manifest
from geocorgi.device.bulk.preparing import Wish, job_of, require_wish
from geocorgi.device.bulk.whole import forget, protect
from geocorgi.device.data_folder import private_folder
from geocorgi.device.preparation import Prepared


def release_file(
    wish: Wish,
    prepared: Prepared,
    executor: Executor | None = None,
    on_rows: RowsDone | None = None,
) -> dict[str, Any]:
    """Release the file, here or on an executor, and return the manifest of what holds."""
    require_wish(wish)
    with alone_in(private_folder(wish.work), wish.out.name):
        job = job_of(wish, prepared)
        whole = protect(job, wish.out, executor, on_rows)
        manifest = write_manifest(wish.out, job, prepared, whole)
        forget(job)
        _tidy(wish.work)
    return manifest


def _tidy(work: Path) -> None:
    """Remove what runs left in the folder of work, and last the folder, if nobody else is in it."""
    for folder in work.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        (work / FILE).unlink()
        work.rmdir()
