"""One Chromium a module, one map for all pages; and nothing outside is ever asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.browser.pages import launched
from tests.cli.published import MAP, publish
from tests.device.forests import made, quick_forest
from tests.device.network.loopback import Loopback, answer, serving

# Named in docs/known-gaps.md: Chromium asks its maker what the fields of a page may be for.
THE_BROWSERS_OWN = (b"content-autofill.googleapis.com:443",)


@pytest.fixture(scope="module")
def outside() -> Iterator[Loopback]:
    """A proxy for whatever is not loopback: it keeps what reaches it and lets nothing through."""
    with serving(answer(b"", status="403 Forbidden")) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def browser(outside: Loopback) -> Iterator[Browser]:
    """No longer than a module: while it lasts, an event loop runs in this thread."""
    with sync_playwright() as playwright:
        found = launched(playwright, outside.port)
        yield found
        found.close()
    assert not strangers(outside.requests)


def strangers(requests: Sequence[bytes]) -> list[bytes]:
    """Return who was asked, but for what the browser does by itself and a page cannot forbid."""
    asked = [request.split(b"\r\n")[0] for request in requests]
    return [line for line in asked if not any(host in line for host in THE_BROWSERS_OWN)]


@pytest.fixture(scope="session")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map of 49 leaves with forests beside it."""
    folder = tmp_path_factory.mktemp("published")
    entry = CatalogueEntry(2, None, 2, Rows.KEEP, 5.0)
    content = made(quick_forest, MAP, request_for(map_id(MAP), entry))
    (folder / "for-two.safetensors").write_bytes(content)
    return publish(folder)
