"""One Chromium for all browser tests, one map for all pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.pages import launched
from tests.cli.published import publish


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """No longer than a module: while it lasts, an event loop runs in this thread."""
    with sync_playwright() as playwright:
        found = launched(playwright)
        yield found
        found.close()


@pytest.fixture(scope="session")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map of 49 leaves with forests beside it."""
    return publish(tmp_path_factory.mktemp("published"))
