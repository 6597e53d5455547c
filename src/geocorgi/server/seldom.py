"""The same sentence is noted once a minute: trouble that every request meets fills no disk."""

from __future__ import annotations

import logging
import math
import time

SECONDS = 60.0
MOST_REMEMBERED = 1_000


class Seldom(logging.Filter):
    """Lets a sentence through unless it went through a moment ago."""

    def __init__(self) -> None:
        super().__init__()
        self._noted: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to note it."""
        sentence, now = record.getMessage(), time.monotonic()
        if now - self._noted.get(sentence, -math.inf) < SECONDS:
            return False
        if len(self._noted) >= MOST_REMEMBERED:
            self._noted.clear()
        self._noted[sentence] = now
        return True
