"""Asking again: what may go better the next time is tried a few times, ever more rarely.

The pauses are random within bounds, so that devices that failed together do not come back
together. Nothing here knows what is asked for, or where the user is: how often a server hears
from a device depends on the server's answers alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from secrets import SystemRandom

from geocorgi.device.network.exchange import Answer, Get
from geocorgi.errors import Unreachable

TOO_MANY_REQUESTS = 429
SERVERS_FAULT = 500
OnTrouble = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to ask, how long to pause, and how long to wait for something to be built."""

    attempts: int = 4
    pause_seconds: float = 1.0
    longest_pause_seconds: float = 30.0
    building_seconds: float = 1_800.0

    def pause(self, turn: int, asked_for_seconds: float | None = None) -> None:
        """Pause before the next turn: as long as was asked for, within bounds, and by chance."""
        wanted = self.pause_seconds * 2.0 ** min(turn, 20)
        if asked_for_seconds is not None:
            wanted = max(self.pause_seconds, asked_for_seconds)
        bounded = min(wanted, self.longest_pause_seconds)
        time.sleep(bounded * SystemRandom().uniform(0.75, 1.25))


def persistent(get: Get, patience: Patience, on_trouble: OnTrouble | None = None) -> Get:
    """Return the same question, asked again where there was no answer or the server's fault."""
    say = on_trouble or (lambda _: None)

    def ask(url: str, most_bytes: int) -> Answer:
        for turn in range(patience.attempts - 1):
            try:
                answer = get(url, most_bytes)
            except Unreachable as failure:
                say(str(failure))
                patience.pause(turn)
                continue
            if not _is_passing(answer.status):
                return answer
            say(f"the server answers with status {answer.status}")
            patience.pause(turn, answer.retry_after_seconds)
        answer = get(url, most_bytes)
        if _is_passing(answer.status):
            raise Unreachable(
                f"the server answers with status {answer.status}, {patience.attempts} times now: "
                "try again later"
            )
        return answer

    return ask


def _is_passing(status: int) -> bool:
    return status == TOO_MANY_REQUESTS or status >= SERVERS_FAULT
