"""Who may talk to the page: the browser that was handed the key, from this address, and no other.

Loopback is no wall. Every program on the machine can connect to it, and every web page that the
user has open can make her browser connect to it: by a request from another site, or by a name of
its own that it lets point at 127.0.0.1 (DNS rebinding). So each request is asked three things:

* for whom: the Host is the address that was printed, letter for letter;
* from where: an Origin, where the browser sends one, is that same address (a WebSocket must have
  one), and no other site caused the request;
* by whom: it carries the key, as a cookie that scripts cannot read and other sites cannot send. The
  key is random for each start. The first page is opened with the key in its address, once; the
  answer sets the cookie and leads to an address without it.

Nothing is kept by the browser (``no-store``), nothing is loaded from elsewhere (the policy), no
other page frames this one, and no address of a page ever holds a location.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "geocorgi_key"
OPENING = "/open"
FORBIDDEN = b"This page belongs to the browser that opened it with the address in the terminal."


def cookie_name(host: str) -> str:
    """Return the cookie's name: browsers keep no cookies apart by port, so the name has it."""
    return f"{COOKIE}_{host.rpartition(':')[2]}"


def new_key() -> str:
    """Return a key that nobody can guess."""
    return secrets.token_urlsafe(32)


class Guard:
    """An application that only the user's own browser reaches."""

    def __init__(
        self, application: Application, host: str, key: str, tiles_from: str | None = None
    ) -> None:
        self._application = application
        self._host = host
        self._cookie = cookie_name(host)
        self._key = key
        self._pictures = "'self' data:" if tiles_from is None else f"'self' data: {tiles_from}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it before the application hears of it."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = _Headers(scope)
        if not self._is_from_this_page(scope, headers):
            await _refuse(scope, send)
        elif scope["type"] == "http" and scope["path"] == OPENING:
            await self._open(scope, send)
        elif not self._has_key(headers):
            await _refuse(scope, send)
        else:
            await self._application(scope, receive, self._closing(send))

    def _is_from_this_page(self, scope: Scope, headers: _Headers) -> bool:
        if headers.all("host") != [self._host]:
            return False
        origins = headers.all("origin")
        if scope["type"] == "websocket" and not origins:
            return False
        if any(origin != f"http://{self._host}" for origin in origins):
            return False
        # Typed into the address bar or opened by the terminal is 'none'.
        return headers.first("sec-fetch-site", "none") in {"none", "same-origin"}

    def _has_key(self, headers: _Headers) -> bool:
        for line in headers.all("cookie"):
            try:
                cookies = SimpleCookie(line)
            except CookieError:
                continue
            if self._cookie in cookies and self._is_key(cookies[self._cookie].value):
                return True
        return False

    def _is_key(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._key.encode())

    async def _open(self, scope: Scope, send: Send) -> None:
        """Hand the cookie to who knows the key, and lead on to an address without it."""
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=4)
        if not self._is_key(asked.get("key", [""])[0]):
            await _refuse(scope, send)
            return
        cookie = f"{self._cookie}={self._key}; HttpOnly; SameSite=Strict; Path=/"
        headers = {"location": "/", "set-cookie": cookie} | self._policy()
        await _answer(send, 303, headers, b"")

    def _closing(self, send: Send) -> Send:
        """Return a way to answer that adds what a browser has to be told."""

        async def close(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name.encode(): value.encode() for name, value in self._policy().items()}
                theirs = [(n, v) for n, v in message.get("headers", []) if n.lower() not in ours]
                message = {**message, "headers": [*theirs, *ours.items()]}
            await send(message)

        return close

    def _policy(self) -> dict[str, str]:
        own = f"'self' ws://{self._host}"
        return {
            "cache-control": "no-store",
            "content-security-policy": (
                "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
                f"style-src 'self' 'unsafe-inline'; img-src {self._pictures}; "
                f"font-src 'self' data:; "
                f"connect-src {own}; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
            ),
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }


class _Headers:
    """A request's headers, by their names in lower case."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope.get("headers", [])
        ]

    def all(self, name: str) -> list[str]:
        return [value for given, value in self._pairs if given == name]

    def first(self, name: str, default: str) -> str:
        return next(iter(self.all(name)), default)


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, 403, {"cache-control": "no-store"}, FORBIDDEN)


async def _answer(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    told = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))} | headers
    pairs = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
