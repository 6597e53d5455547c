"""Work that takes its time: off the event loop, with progress, and with a way to stop it.

A thread is not killed: the work asks, whenever it has something to say, whether it is still wanted.
Who stops it waits no longer, whatever it hangs in; and what must not happen after that (a draw that
is charged) passes a point of no return first, before which stopping wins and after which it fails.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")
SECONDS_BETWEEN_LOOKS = 0.1


class Stopped(Exception):
    """The user no longer wants it. Nothing has been drawn, charged or sent."""


class Job:
    """One piece of work: what it says about itself, and whether it is still wanted."""

    def __init__(self) -> None:
        self.said, self.done, self.of = "", 0, 0
        self._lock = threading.Lock()
        self._stopped = self._is_final = False

    @property
    def stopped(self) -> bool:
        """Whether nobody wants it any more."""
        return self._stopped

    def say(self, sentence: str, done: int = 0, of: int = 0) -> None:
        """Say how far it is; raise Stopped where nobody wants it any more."""
        self.said, self.done, self.of = sentence, done, of
        if self._stopped:
            raise Stopped

    def stop(self) -> bool:
        """Stop it, and return whether that was in time."""
        with self._lock:
            self._stopped = not self._is_final
            return self._stopped

    def point_of_no_return(self) -> None:
        """Go where stopping comes too late; raise Stopped if it came before."""
        with self._lock:
            if self._stopped:
                raise Stopped
            self._is_final = True


async def done_aside(
    job: Job, work: Callable[[Job], Result], look: Callable[[], None] = lambda: None
) -> Result:
    """Return what the work returns, done in a thread; ``look`` is called while it lasts."""
    waiting: Future[Result] = Future()

    def run() -> None:
        try:
            found = work(job)
        except BaseException as failure:  # noqa: BLE001 - it is raised where it is waited for
            waiting.set_exception(failure)
        else:
            waiting.set_result(found)

    # A daemon: what hangs in a connection must not keep the program from ending.
    threading.Thread(target=run, name="geocorgi work", daemon=True).start()
    future = asyncio.wrap_future(waiting)
    future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    while not future.done() and not job.stopped:
        await asyncio.wait({future}, timeout=SECONDS_BETWEEN_LOOKS)
        look()
    if job.stopped:
        raise Stopped
    return future.result()
