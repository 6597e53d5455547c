"""With plain sockets: no other site, no rebound name, nobody without the key."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from geocorgi.device.app.guard import cookie_name
from tests.browser.pages import Served, served

SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("page")) as found:
        yield found


def said(page: Served, path: str, method: str = "GET", **headers: str | None) -> str:
    """Ask with exactly these headers, the right Host unless another is named; return the answer."""
    given = {"Host": page.host} | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
    question = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "Content-Length: 0", "", ""])
    with socket.create_connection(("127.0.0.1", page.port), timeout=10) as connection:
        connection.sendall(question.encode())
        answer = b""
        while b"\r\n\r\n" not in answer and (piece := connection.recv(65_536)):
            answer += piece
    return answer.decode("latin-1").lower()


def status(*asked, **headers) -> int:
    return int(said(*asked, **headers).split(maxsplit=2)[1])


def cookie(page: Served) -> str:
    return f"{cookie_name(page.host)}={page.key}"


def test_with_the_key_the_page_is_there_and_is_not_kept(page):
    answer = said(page, "/", Cookie=cookie(page))
    assert answer.startswith("http/1.1 200")
    assert "cache-control: no-store" in answer
    assert "referrer-policy: no-referrer" in answer
    assert "max-age" not in answer


def test_no_file_of_the_page_is_kept_either(page):
    with_key = {"Cookie": cookie(page)}
    for path in ("/favicon.ico", "/nowhere", "/_nicegui/3.18.0/static/nicegui.js"):
        assert "cache-control: no-store" in said(page, path, **with_key)


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/docs", "/openapi.json", SOCKET])
def test_without_the_key_nothing_is_there(page, path):
    assert status(page, path) == 403
    assert status(page, path, Cookie=f"{cookie_name(page.host)}=guess") == 403


def test_a_name_that_was_rebound_to_loopback_is_refused(page):
    for host in ("rebound.example", f"rebound.example:{page.port}", f"localhost:{page.port}", ""):
        assert status(page, "/", Host=host, Cookie=cookie(page)) in {400, 403}
        assert status(page, f"/open?key={page.key}", Host=host) in {400, 403}


def test_another_site_cannot_make_the_browser_ask(page):
    for site in ("cross-site", "same-site"):
        assert status(page, "/", Cookie=cookie(page), Sec_Fetch_Site=site) == 403
    assert status(page, "/", "POST", Cookie=cookie(page), Origin="http://evil.example") == 403
    assert status(page, f"/open?key={page.key}", Sec_Fetch_Site="cross-site") == 403


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1", "https://127.0.0.1:1"]
)
def test_the_socket_is_for_the_page_alone(page, origin):
    headers = UPGRADE | {"Cookie": cookie(page), "Origin": origin}
    assert status(page, SOCKET, **headers) == 403


def test_the_socket_opens_for_the_page(page):
    headers = UPGRADE | {"Cookie": cookie(page), "Origin": f"http://{page.host}"}
    assert status(page, SOCKET, **headers) == 101


def test_only_loopback_listens(page):
    outside = socket.gethostbyname(socket.gethostname())
    if outside.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((outside, page.port), timeout=2).close()
