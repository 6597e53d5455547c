"""The door to the network: one GET, bounded in time and size, alike for every device.

It stands below httpx's client, which would keep cookies, follow redirects and look for credentials
in the user's files. What leaves is the address and four headers that are the same everywhere.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from anyio import fail_after
from anyio.from_thread import start_blocking_portal

from geocorgi.device.network.body import Body
from geocorgi.device.network.exchange import Answer, Get
from geocorgi.errors import AnswerRefused, Unreachable

HEADERS = {"User-Agent": "geocorgi", "Accept": "*/*", "Accept-Encoding": "gzip"}
MOST_REFUSAL_BYTES = 2_000
LONGEST_RETRY_AFTER = 4  # digits


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait: for a connection, for the next byte, and for the whole answer."""

    connect_seconds: float = 15.0
    read_seconds: float = 30.0
    answer_seconds: float = 600.0


@contextmanager
def network(proxy: str | None = None, limits: Limits | None = None) -> Iterator[Get]:
    """Lend the one way to ask; connections stay open while it is lent.

    The exchange runs in an event loop in a thread of its own: so its end comes when the time is
    over, whatever the server does, and it works where another event loop is running.
    """
    bounds = limits or Limits()
    with start_blocking_portal() as portal:
        # The environment names certificates here (SSL_CERT_FILE) and nothing else.
        transport = httpx.AsyncHTTPTransport(proxy=proxy)

        def get(url: str, most_bytes: int) -> Answer:
            return portal.call(_exchange, transport, url, most_bytes, bounds)

        try:
            yield get
        finally:
            portal.call(transport.aclose)


async def _exchange(
    transport: httpx.AsyncHTTPTransport, url: str, most_bytes: int, limits: Limits
) -> Answer:
    waits = httpx.Timeout(limits.read_seconds, connect=limits.connect_seconds).as_dict()
    request = httpx.Request("GET", url, headers=HEADERS, extensions={"timeout": waits})
    try:
        with fail_after(limits.answer_seconds):
            response = await transport.handle_async_request(request)
            try:
                return await _answer(response, most_bytes)
            finally:
                await response.aclose()
    except (TimeoutError, httpx.TimeoutException):
        raise Unreachable("the server did not answer in time") from None
    except httpx.ProxyError:
        raise Unreachable("the proxy did not let the request through") from None
    except httpx.ConnectError as failure:
        raise _not_connected(failure) from None
    except (httpx.TransportError, httpx.InvalidURL):
        raise Unreachable("the connection broke before the answer was whole") from None


async def _answer(response: httpx.Response, most_bytes: int) -> Answer:
    """Take the answer in; of one that is not the thing asked for, the beginning at most."""
    status = response.status_code
    if response.is_redirect:
        raise AnswerRefused("the server sends elsewhere; nobody goes there unasked: name it")
    if status == httpx.codes.OK:
        content = await _content(response, most_bytes)
    else:
        try:
            content = await _content(response, MOST_REFUSAL_BYTES)
        except AnswerRefused:  # somebody's long page about an error: its status says enough
            content = b""
    return Answer(status, content, _retry_after(response))


async def _content(response: httpx.Response, most_bytes: int) -> bytes:
    body = Body(response.headers.get("Content-Encoding"), most_bytes)
    async for piece in response.aiter_raw():
        body.take(piece)
    return body.whole()


def _retry_after(response: httpx.Response) -> int | None:
    said = response.headers.get("Retry-After", "")
    digits = said.isascii() and said.isdigit() and len(said) <= LONGEST_RETRY_AFTER
    return int(said) if digits else None


def _not_connected(failure: httpx.ConnectError) -> AnswerRefused | Unreachable:
    cause: BaseException | None = failure
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return AnswerRefused("the server's certificate does not prove that it is this server")
        cause = cause.__cause__ or cause.__context__
    return Unreachable("the server cannot be reached")
