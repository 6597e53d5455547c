"""Where tasks run: worker processes on this machine, or whatever executor one is lent.

Workers hold one end of a pipe, their lifeline. When the other end closes, because the run was
interrupted or its process killed, they end at once: a worker never outlives what it works for. They
do not hear Ctrl-C, which a terminal sends to all processes: a matrix cut short is no result.

A worker that dies takes the pool with it. What is finished is finished; the tasks that were running
are then tried once more, one after the other, so that the one that kills its worker is found.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from geocorgi.generate.privacy_forest_subtree import SubtreeTask, generate_subtree


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task: its result, or why there is none."""

    task: SubtreeTask
    content: bytes | None = None
    failure: BaseException | None = None


Outcomes = Generator[Outcome, None, None]


def on_executor(executor: Executor, tasks: Iterable[SubtreeTask]) -> Outcomes:
    """Yield what becomes of the tasks, as they finish, on any executor."""
    running: dict[Future[bytes], SubtreeTask] = {}
    try:
        for task in tasks:
            running[executor.submit(generate_subtree, task)] = task
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield _outcome(running.pop(future), future)
    finally:
        for future in running:
            future.cancel()


def on_processes(workers: int, tasks: Iterable[SubtreeTask]) -> Outcomes:
    """Yield what becomes of the tasks, as they finish, on worker processes of this machine."""
    waiting, suspects = deque(tasks), deque[SubtreeTask]()
    while waiting or suspects:
        if suspects:
            lost = yield from _until_broken(1, suspects)
            for task in lost:
                yield Outcome(task, failure=BrokenProcessPool("its worker was lost twice"))
        else:
            lost = yield from _until_broken(workers, waiting)
            suspects.extend(lost)


def _until_broken(
    workers: int, tasks: deque[SubtreeTask]
) -> Generator[Outcome, None, list[SubtreeTask]]:
    """Work off the tasks; return those that were running when a worker was lost."""
    running: dict[Future[bytes], SubtreeTask] = {}
    with worker_processes(workers) as pool:
        while tasks or running:
            lost: list[SubtreeTask] = []
            while tasks and len(running) < workers:
                future = pool.submit(generate_subtree, tasks[0])
                running[future] = tasks.popleft()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    lost.append(task)
                else:
                    yield _outcome(task, future)
            if lost:
                return [*lost, *running.values()]
    return []


@contextmanager
def worker_processes(workers: int) -> Iterator[Executor]:
    """Lend worker processes; leaving by an exception ends them in the middle of their work."""
    context = multiprocessing.get_context("spawn")
    hears, holds = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _begin_worker, (hears,))
    try:
        yield pool
    except BaseException:
        holds.close()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        holds.close()
        hears.close()


def _outcome(task: SubtreeTask, future: Future[bytes]) -> Outcome:
    failure = future.exception()
    return Outcome(task, failure=failure) if failure else Outcome(task, future.result())


def _begin_worker(lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
