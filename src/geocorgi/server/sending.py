"""An answer on its way: in the form that is accepted, in pieces, counted."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geocorgi.server.answer import Answer, Form, Headers
from geocorgi.server.at_hand import AtHand
from geocorgi.server.metrics import Metrics

PIECE_BYTES = 262_144
NOT_OF_NOTHING = {b"content-type", b"content-length", b"content-encoding"}


async def send_answer(answer: Answer, scope: Scope, send: Send) -> None:
    """Send the answer in the form that the request accepts, or say that it is still so.

    A long body goes in pieces, so that a slow client holds one piece in memory, not all.
    """
    accepted, known = _asked(scope["headers"])
    form = answer.packed if answer.packed is not None and _accepts_gzip(accepted) else answer.plain
    if form.tag and form.tag in known.replace(b"W/", b"").split(b", "):
        await _send(send, 304, [one for one in form.headers if one[0] not in NOT_OF_NOTHING], b"")
    elif len(form.content) <= PIECE_BYTES:
        await _send(send, answer.status, form.headers, form.content)
    else:
        await _send_in_pieces(send, answer.status, form)


class Sent(Response):
    """An answer as a response of the framework."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(status_code=answer.status)
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the answer."""
        await send_answer(self.answer, scope, send)


class AtOnce:
    """Answers what is at hand before any routing, passes on the rest, and counts both.

    Counted is the route's pattern; an address as it was asked is not kept. HEAD is answered as GET;
    the server below leaves the body out.
    """

    def __init__(self, app: ASGIApp, at_hand: AtHand, metrics: Metrics) -> None:
        self._app, self._at_hand, self._metrics = app, at_hand, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] in {"GET", "HEAD"}:
            answer = self._at_hand.get(scope["path"][1:])
            if answer is not None:
                await send_answer(answer, scope, send)
                self._metrics.answered(answer.route, answer.status)
                return
            scope = {**scope, "method": "GET"}
        await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = 500

        async def counted(sent: Message) -> None:
            nonlocal status
            status = sent.get("status", status)
            await send(sent)

        try:
            await self._app(scope, receive, counted)
        finally:
            self._metrics.answered(getattr(scope.get("route"), "path", "none"), status)


def _asked(headers: Headers) -> tuple[bytes, bytes]:
    """Return what the request accepts, and what it already has."""
    accepted = known = b""
    for name, value in headers:
        if name == b"accept-encoding":
            accepted = value
        elif name == b"if-none-match":
            known = value
    return accepted, known


def _accepts_gzip(accepted: bytes) -> bool:
    for part in accepted.lower().split(b","):
        coding, _, weight = part.partition(b";")
        if coding.strip() in {b"gzip", b"*"}:
            return weight.replace(b" ", b"").rstrip(b"0") not in {b"q=", b"q=0."}
    return False


async def _send(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_in_pieces(send: Send, status: int, form: Form) -> None:
    await send({"type": "http.response.start", "status": status, "headers": form.headers})
    body = memoryview(form.content)
    for first in range(0, len(body), PIECE_BYTES):
        piece = bytes(body[first : first + PIECE_BYTES])
        more = first + PIECE_BYTES < len(body)
        await send({"type": "http.response.body", "body": piece, "more_body": more})
