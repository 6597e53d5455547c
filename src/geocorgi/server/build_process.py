"""Starting a build, hearing how far it is, and ending it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from geocorgi.errors import BadFile, GenerationFailed, WorkerLost
from geocorgi.server.build import NO_ROOM, REFUSED
from geocorgi.wire.forest_request import ForestRequest, encode_request

LONGEST_LINE = 65_536
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Task:
    """What a build needs: a map's file, where finished subtrees are kept, where the forest goes."""

    request: ForestRequest
    map_file: Path
    work_folder: Path
    out: Path


async def run_build(task: Task, on_progress: Progress) -> None:
    """Run a build to its end; cancelling ends the process at once, keeping what is finished."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "geocorgi.server.build",
        str(task.map_file), str(task.work_folder), str(task.out),
        encode_request(task.request).decode("ascii"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE,
    )  # fmt: skip
    reason = ""
    try:
        assert process.stdout is not None  # noqa: S101 - asked for above
        async for line in process.stdout:
            told = json.loads(line)
            if "done" in told:
                on_progress(told["done"])
            reason = told.get("reason", reason)
        code = await process.wait()
    finally:
        await _end(process)
    if code == NO_ROOM:
        raise BadFile(reason)
    if code == REFUSED:
        raise GenerationFailed(reason)
    if code != 0:
        raise WorkerLost(f"the process that built the forest ended with code {code}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process if it still runs: its lifeline first, which its own workers hear too."""
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode is None:
        with suppress(ProcessLookupError, TimeoutError):
            await asyncio.wait_for(process.wait(), 5.0)
    if process.returncode is None:
        process.kill()
        await process.wait()
