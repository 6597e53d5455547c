"""The page answers the browser that has the key and nobody else."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.app.guard import Guard, cookie_name, new_key

HOST = "127.0.0.1:8123"
KEY = new_key()
COOKIE = cookie_name(HOST)
WITH_KEY = ("cookie", f"{COOKIE}={KEY}")
OWN = ("origin", f"http://{HOST}")


def asked(*headers: tuple[str, str], kind: str = "http", path: str = "/", query: str = ""):
    """Ask a guarded application; return whether it was reached and what was sent."""
    reached, sent = [], []

    async def application(scope, receive, send):
        reached.append(scope["path"])
        if kind == "http":
            start = {"type": "http.response.start", "status": 200}
            await send(start | {"headers": [(b"Cache-Control", b"public"), (b"x-own", b"1")]})
        else:
            await send({"type": "websocket.accept"})

    async def send(message):
        sent.append(message)

    scope = {
        "type": kind,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    asyncio.run(Guard(application, HOST, KEY)(scope, None, send))
    return bool(reached), sent


def test_the_browser_with_the_key_is_let_in_and_told_to_keep_nothing():
    reached, sent = asked(("host", HOST), WITH_KEY)
    assert reached
    headers = {name.lower(): value for name, value in sent[0]["headers"]}
    assert headers[b"cache-control"] == b"no-store"
    assert headers[b"x-own"] == b"1"
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]
    assert headers[b"referrer-policy"] == b"no-referrer"


def test_a_websocket_from_the_page_itself_is_let_in():
    reached, sent = asked(("host", HOST), OWN, WITH_KEY, kind="websocket")
    assert reached
    assert sent == [{"type": "websocket.accept"}]


@pytest.mark.parametrize(
    "headers",
    [
        [("host", HOST)],
        [("host", HOST), ("cookie", f"{COOKIE}=")],
        [("host", HOST), ("cookie", f"{COOKIE}={KEY[:-1]}")],
        [("host", HOST), ("cookie", f"other={KEY}")],
        [WITH_KEY],
        [("host", "rebound.example:8123"), WITH_KEY],
        [("host", "127.0.0.1"), WITH_KEY],
        [("host", HOST), ("host", "rebound.example"), WITH_KEY],
        [("host", HOST), ("origin", "http://elsewhere.example"), WITH_KEY],
        [("host", HOST), ("origin", "null"), WITH_KEY],
        [("host", HOST), ("origin", f"https://{HOST}"), WITH_KEY],
        [("host", HOST), OWN, ("origin", "http://elsewhere.example"), WITH_KEY],
        [("host", HOST), ("sec-fetch-site", "cross-site"), WITH_KEY],
        [("host", HOST), ("sec-fetch-site", "same-site"), WITH_KEY],
    ],
)
def test_whoever_else_is_refused_before_the_page_hears_of_it(headers):
    for kind in ("http", "websocket"):
        reached, sent = asked(*headers, kind=kind)
        assert not reached
        assert sent[0].get("status", sent[0].get("code")) in {403, 1008}


def test_a_websocket_without_an_origin_is_refused():
    assert not asked(("host", HOST), WITH_KEY, kind="websocket")[0]


def test_the_key_opens_once_by_address_and_then_by_cookie_only():
    reached, sent = asked(("host", HOST), path="/open", query=f"key={KEY}")
    assert not reached
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 303
    assert headers[b"location"] == b"/"
    assert b"HttpOnly; SameSite=Strict" in headers[b"set-cookie"]
    assert not asked(("host", HOST), path="/", query=f"key={KEY}")[0]


@given(st.text(max_size=60).filter(lambda text: text != KEY))
def test_no_other_key_opens(text):
    _, sent = asked(("host", HOST), path="/open", query=f"key={text.encode().hex()}")
    assert sent[0]["status"] == 403
    assert b"set-cookie" not in dict(sent[0]["headers"])


def test_opening_from_another_site_is_refused_even_with_the_key():
    headers = [("host", HOST), ("sec-fetch-site", "cross-site")]
    assert asked(*headers, path="/open", query=f"key={KEY}")[1][0]["status"] == 403


def test_two_pages_at_two_ports_do_not_take_each_others_cookie():
    assert cookie_name(HOST) != cookie_name("127.0.0.1:8124")
    assert not asked(("host", HOST), ("cookie", f"{cookie_name('127.0.0.1:1')}={KEY}"))[0]


def test_tiles_may_come_from_a_named_address_and_nothing_else_may():
    guard = Guard(None, HOST, KEY, "https://tiles.example")
    policy = guard._policy()["content-security-policy"]
    assert "img-src 'self' data: https://tiles.example;" in policy
    assert policy.count("tiles.example") == 1
    assert "tiles.example" not in Guard(None, HOST, KEY)._policy()["content-security-policy"]


def test_two_starts_have_two_keys():
    assert new_key() != new_key()
