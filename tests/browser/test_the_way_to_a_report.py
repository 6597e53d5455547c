"""In a real browser: from the first start to a report, and what can come in between."""

from __future__ import annotations

import re
import socket
import time

import pytest
from playwright.sync_api import expect

from geocorgi.device.ledger import Ledger
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.addresses import pin_address
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import encode_map, map_id
from tests.browser.pages import opened, served
from tests.browser.steps import be_at, cell, news, report, says, tab, write_policy
from tests.device.forests import quick_forest
from tests.device.http_published import over_http
from tests.device.network.loopback import serving
from tests.device.published import Published, building, request_id
from tests.wire.maps import LEAVES, small_map

pytestmark = pytest.mark.needs("chromium")
HERE = LEAVES[20]


def sent(page):
    with Ledger(page.data) as ledger:
        return ledger.history()


def test_from_the_first_start_to_a_report(browser, map_file, tmp_path):
    with served(tmp_path) as page:
        window = opened(browser, page)
        window.get_by_text("geocorgi-server serve").wait_for()
        window.get_by_label("Path of the map, forests beside it").fill(str(map_file))
        window.get_by_role("button", name="Open").click()
        says(window, "Now say where you are")
        report(window)
        says(window, "First say where you are")
        be_at(window, HERE)
        report(window)
        says(window, "Reported to anybody")
        expect(window.get_by_text("drawn and charged now")).to_be_visible()
        (one,) = sent(page)
        says(window, one.cell)
        expect(cell(window, one.cell)).to_have_accessible_name(re.compile("sent"))
        report(window)
        expect(window.get_by_text("drawn for this place before: free")).to_be_visible()
        tab(window, "History")
        expect(window.get_by_role("cell", name=one.cell).first).to_be_visible()
        expect(window.get_by_text("5 per km in 24 hours")).to_be_visible()
        assert page.stop() == 130  # interrupted
        assert not list(page.working_folder.iterdir())
        assert not list((page.data / "page").iterdir())
        assert HERE not in "".join(page.said)


def test_a_refused_policy_names_its_line_and_changes_nothing(browser, map_file, tmp_path):
    with served(tmp_path, "--map", map_file) as page:
        window = opened(browser, page)
        be_at(window, HERE)
        write_policy(window, "privacy_level = 1\nprecision_level = 1\n")
        says(window, "Line 2: precision_level 1 is not below privacy_level 1")
        write_policy(window, "privacy_level = 2\npreferences = ['nowhere = True']\n")
        says(window, "nowhere")
        assert not (page.data / "policy.toml").exists()
        write_policy(window, "privacy_level = 2\npreferences = ['home = False']\n")
        says(window, "run 'geocorgi policy places'")
        report(window)
        says(window, "home")
        assert not sent(page)


def test_a_hostile_forest_is_refused_and_nothing_is_drawn(browser, tmp_path):
    from tests.device.test_acceptance import identity  # noqa: PLC0415

    (tmp_path / "map.json").write_bytes(encode_map(small_map()))
    (tmp_path / "hostile.safetensors").write_bytes(forest_bytes(identity()))
    policy = tmp_path / "policy.toml"
    policy.write_text(f"privacy_level = 1\nblack_list = ['{LEAVES[0]}']\n", encoding="utf-8")
    with served(tmp_path, "--map", tmp_path / "map.json", "--policy", policy) as page:
        window = opened(browser, page)
        be_at(window, HERE)
        report(window)
        says(window, "The server's forest is refused, not geo-indistinguishable")
        tab(window, "Meaning")
        window.get_by_role("button", name="Check").click()
        says(window, "The server's forest is refused, not geo-indistinguishable")
        assert not sent(page)


@pytest.mark.slow  # it is asked four times, with pauses
def test_a_server_that_is_down_is_named_and_another_one_can_be_said(browser, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/"
    with served(tmp_path, "--server", address) as page, over_http(Published(small_map())) as up:
        window = opened(browser, page)
        expect(window.get_by_text(re.compile("asking again"))).to_be_visible()
        expect(news(window)).to_contain_text("server", timeout=30_000)
        window.get_by_label("Address of the server").fill(up)
        window.get_by_role("button", name="Connect").click()
        says(window, "Now say where you are")
        be_at(window, HERE)
        report(window)
        says(window, "does not have it")
        assert not sent(page)


def test_a_report_can_be_stopped_while_the_server_builds(browser, tmp_path):
    public_map = small_map()
    published = Published(public_map)
    asked = request_for(map_id(public_map), CatalogueEntry(2, None, 0, Rows.KEEP, 5.0))
    pin = pin_address(asked.map_id, request_id(asked))
    published.first[pin] = [building(done) for done in range(7)] * 9
    with over_http(published) as up, served(tmp_path, "--server", up) as page:
        window = opened(browser, page)
        be_at(window, HERE)
        report(window)
        expect(window.get_by_text(re.compile("The server builds the forest"))).to_be_visible()
        window.get_by_role("button", name="Stop").click()
        says(window, "Stopped. Nothing was drawn, charged or sent.")
        published.first.clear()
        published.publish(asked, forest_bytes(quick_forest(public_map, asked)))
        time.sleep(1.5)  # the work that was stopped sees the forest, and goes no further
        assert not sent(page)
        report(window)
        says(window, "Reported to anybody")
        assert len(sent(page)) == 1


def test_work_can_be_stopped_at_once_and_nothing_comes_of_it(browser, tmp_path):
    def hang(connection):
        connection.settimeout(30)
        connection.recv(1)

    with serving(hang) as server, served(tmp_path, "--server", server.url) as page:
        window = opened(browser, page)
        expect(window.get_by_role("progressbar", name="Progress")).to_be_visible()
        window.get_by_role("button", name="Stop").click()
        says(window, "Stopped. Nothing was drawn, charged or sent.")
        expect(window.get_by_role("button", name="Stop")).to_be_hidden()
        window.get_by_role("button", name="Connect").click()
        expect(window.get_by_role("button", name="Stop")).to_be_visible()
        window.get_by_role("button", name="Stop").click()
        assert not sent(page)
        page.process.kill()
