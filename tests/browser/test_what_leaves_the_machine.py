"""From the first paint on nothing is asked of anybody but the page itself, over any protocol."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from geocorgi.device.ledger import Ledger
from tests.browser.conftest import THE_BROWSERS_OWN, strangers
from tests.browser.pages import opened, served
from tests.browser.steps import be_at, report, says, tab
from tests.conftest import REPOSITORY
from tests.device.app.test_backdrop import mbtiles
from tests.device.network.loopback import answer, serving
from tests.wire.maps import LEAVES

pytestmark = pytest.mark.needs("chromium")
HERE = LEAVES[20]
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8"
    "ffff3f0005fe02fea7356a160000000049454e44ae426082"
)


class Recorded:
    """Every address that a window asked, and what went through its sockets."""

    def __init__(self, context) -> None:
        self.urls: list[str] = []
        self.frames: list[str] = []
        context.on("request", lambda request: self.urls.append(request.url))
        context.on("page", lambda window: window.on("websocket", self._socket))

    def _socket(self, socket) -> None:
        self.urls.append(socket.url)
        for event in ("framesent", "framereceived"):
            socket.on(event, lambda payload: self.frames.append(str(payload)))

    def elsewhere(self, host: str) -> set[str]:
        return {url for url in self.urls if urlsplit(url).netloc != host and not _inline(url)}


def _inline(url: str) -> bool:
    return url.startswith(("data:", "blob:", "about:"))


def use(window) -> None:
    be_at(window, HERE)
    for name in ("Policy", "Meaning", "Where"):
        tab(window, name)
    window.get_by_label("Coordinates, cell, own place or name").fill("Mission")
    window.get_by_role("button", name="Search").click()
    report(window)
    says(window, "Reported")
    tab(window, "History")


@pytest.fixture
def watched(browser):
    """A window's context, and all that it asks from its first paint on."""
    context = browser.new_context()
    yield context, Recorded(context)
    context.close()


def test_no_request_leaves_loopback_and_no_address_holds_a_place(watched, map_file, tmp_path):
    context, recorded = watched
    with served(tmp_path, "--map", map_file) as page:
        window = opened(context, page)
        use(window)
        with Ledger(page.data) as ledger:
            (sent,) = ledger.history()
        assert page.key not in window.url
        assert not window.evaluate("localStorage.length")
    assert not recorded.elsewhere(page.host)
    assert recorded.frames
    assert any(url.startswith("ws:") for url in recorded.urls)
    for url in recorded.urls:
        assert HERE not in url
        assert sent.cell not in url
        assert not re.search(r"37\.\d{3}|122\.\d{3}", url)
        assert "/socket.io/" not in url or url.startswith("ws:")


def test_the_recorders_would_see_it(watched, outside):
    context, recorded = watched
    context.new_page().set_content("<img src='http://geo.example/tile.png'>")
    assert recorded.elsewhere("127.0.0.1") == {"http://geo.example/tile.png"}
    assert any(b"geo.example" in line for line in strangers(outside.requests))
    outside.requests.clear()


def test_what_the_browser_does_by_itself_is_documented():
    gaps = (REPOSITORY / "docs" / "known-gaps.md").read_text(encoding="utf-8")
    assert all(host.decode().partition(":")[0] in gaps for host in THE_BROWSERS_OWN)


def test_a_named_address_of_tiles_is_asked_and_nobody_else(watched, map_file, tmp_path):
    context, recorded = watched
    with serving(answer(PIXEL, "Content-Type: image/png")) as tiles:
        template = tiles.url + "{z}/{x}/{y}.png"
        with served(tmp_path, "--map", map_file, "--tiles", template) as page:
            window = opened(context, page)
            window.locator("svg.map image").first.wait_for()
            window.get_by_text("learns which area you look at").wait_for()
            be_at(window, HERE)
            said = "".join(page.said)
        hosts = {urlsplit(url).netloc for url in recorded.elsewhere(page.host)}
        assert hosts == {urlsplit(tiles.url).netloc}
        assert tiles.requests
        assert "whoever serves it learns" in " ".join(said.split())


def test_an_offline_file_of_tiles_tells_nobody(watched, map_file, tmp_path):
    context, recorded = watched
    file = mbtiles(tmp_path / "city.mbtiles", PIXEL)
    with served(tmp_path, "--map", map_file, "--mbtiles", file) as page:
        window = opened(context, page)
        href = window.locator("svg.map image").first.get_attribute("href")
        assert href.startswith("data:image/png;base64,")
    assert not recorded.elsewhere(page.host)
