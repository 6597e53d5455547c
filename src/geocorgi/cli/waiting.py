"""What a user sees while a server takes its time: one line whenever there is something new."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from geocorgi.device.http_source import said_of
from geocorgi.terminal import messages
from geocorgi.wire.build_progress import BuildProgress


@dataclass(slots=True)
class Waiting:
    """Says each sentence once; programs are told nothing."""

    as_json: bool
    last: str = ""

    def building(self, progress: BuildProgress) -> None:
        """Say how far the server is."""
        self.say(f"the server is at it: {said_of(progress)} (Ctrl-C loses nothing)")

    def trouble(self, why: str) -> None:
        """Say that it is asked again."""
        self.say(f"{why}; asking again")

    def counting(self, what: str, after_seconds: float = 0.0) -> Callable[[int, int], None]:
        """Return a callback that counts, once it takes longer than that."""
        began = time.monotonic()

        def count(done: int, of: int) -> None:
            if time.monotonic() - began >= after_seconds:
                self.say(f"{what} {done} of {of}")

        return count

    def say(self, sentence: str) -> None:
        """Say a sentence unless it was the last one."""
        if sentence != self.last and not self.as_json:
            self.last = sentence
            messages.print(sentence)
