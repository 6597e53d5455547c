"""Verified answers in memory, so that what is asked for often costs neither disk nor digest."""

from __future__ import annotations

from collections import OrderedDict

from geocorgi.server.answer import Answer

MOST_BYTES = 256_000_000


class AtHand:
    """Answers by address, up to a bound on their bytes; what was longest not asked for leaves."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._answers: OrderedDict[str, Answer] = OrderedDict()

    def get(self, address: str) -> Answer | None:
        """Return the answer at an address, if it is at hand."""
        found = self._answers.get(address)
        if found is not None:
            self._answers.move_to_end(address)
        return found

    def keep(self, address: str, answer: Answer) -> Answer:
        """Keep an answer at hand, and return it."""
        self.forget(address)
        if answer.bytes <= self._most_bytes:
            self._answers[address] = answer
            self._bytes += answer.bytes
        while self._bytes > self._most_bytes:
            self.forget(next(iter(self._answers)))
        return answer

    def forget(self, address: str) -> None:
        """Forget what is there."""
        gone = self._answers.pop(address, None)
        if gone is not None:
            self._bytes -= gone.bytes
