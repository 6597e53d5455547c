"""In a real browser: from the first start to a report, and what can come in between."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from geocorgi.device.ledger import Ledger
from tests.browser.pages import opened, served
from tests.wire.maps import LEAVES

pytestmark = pytest.mark.needs("chromium")
HERE = LEAVES[20]


def cell(window, name):
    return window.locator(f'svg.map [data-cell="{name}"]')


def report(window):
    window.get_by_role("tab", name="Report").click()
    window.get_by_role("button", name="Report", exact=True).click()


def news(window):
    return window.get_by_role("status")


def test_from_the_first_start_to_a_report(browser, map_file, tmp_path):
    with served(tmp_path) as page:
        window = opened(browser, page)
        window.get_by_text("geocorgi-server serve").wait_for()
        window.get_by_label("Path of the map, forests beside it").fill(str(map_file))
        window.get_by_role("button", name="Open").click()
        expect(news(window)).to_contain_text("Now say where you are")
        cell(window, HERE).click()
        expect(news(window)).to_contain_text("That is where you are")
        report(window)
        expect(news(window)).to_contain_text("Reported to anybody")
        expect(window.get_by_text("drawn and charged now")).to_be_visible()
        with Ledger(page.data) as ledger:
            (sent,) = ledger.history()
        expect(news(window)).to_contain_text(sent.cell)
        expect(cell(window, sent.cell)).to_have_accessible_name(re.compile("sent"))
        report(window)
        expect(window.get_by_text("drawn for this place before: free")).to_be_visible()
        assert page.stop() == 130  # interrupted
        assert not list(page.working_folder.iterdir())
        assert not list((page.data / "page").iterdir())
        assert HERE not in "".join(page.said)


def test_without_a_place_the_way_out_is_said(browser, map_file, tmp_path):
    with served(tmp_path, "--map", map_file) as page:
        window = opened(browser, page)
        report(window)
        expect(news(window)).to_contain_text("First say where you are")
