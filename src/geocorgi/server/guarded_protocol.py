"""HTTP/1.1 with bounds: on headers, on how long a request takes to come and an answer to leave.

Uvicorn bounds neither with its fast parser. A client over a bound is cut off: it gets 431 where it
can still be told, else nothing. There are no request bodies here, so none is read.
"""

from __future__ import annotations

from asyncio import BaseTransport, TimerHandle
from collections import deque
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_HEADER_BYTES = 16_384
SECONDS_TO_ASK = 10.0
SECONDS_BETWEEN_LOOKS = 30.0
LEAST_BYTES_BETWEEN_LOOKS = 30_000
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n"


class GuardedProtocol(HttpToolsProtocol):
    """One connection: bytes since the last whole request are counted, and its time is limited."""

    _unparsed = 0
    _asking: TimerHandle | None = None
    _stuck: TimerHandle | None = None
    _unanswered: deque[RequestResponseCycle]

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(cast("Any", transport))
        self._unanswered = deque()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more, and write nothing any more.

        Uvicorn tells the last request only; of several in one go, another one is being answered.
        """
        for timer in (self._asking, self._stuck):
            if timer is not None:
                timer.cancel()
        for cycle in self._unanswered:
            cycle.disconnected = not cycle.response_complete
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what has come of the request, and refuse what is too much."""
        if self.transport.is_closing():
            return
        if self._asking is None:
            self._expect()
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > MOST_HEADER_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def on_headers_complete(self) -> None:
        """Take the request as come: what follows is counted anew."""
        self._unparsed = 0
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        super().on_headers_complete()
        while self._unanswered and self._unanswered[0].response_complete:
            self._unanswered.popleft()
        if self.cycle is not None:
            self._unanswered.append(self.cycle)

    def pause_writing(self) -> None:
        """Begin to look whether a client reads its answer at all."""
        self._look_again()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Forget that it was slow."""
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
        super().resume_writing()

    def _look_again(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._stuck = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look, left)

    def _look(self, left_before: int) -> None:
        if left_before - self.transport.get_write_buffer_size() < LEAST_BYTES_BETWEEN_LOOKS:
            self.transport.abort()
        else:
            self._look_again()

    def _expect(self) -> None:
        self._asking = self.loop.call_later(SECONDS_TO_ASK, self._give_up)

    def _give_up(self) -> None:
        self._asking = None
        if not self.transport.is_closing():
            self.transport.abort()
