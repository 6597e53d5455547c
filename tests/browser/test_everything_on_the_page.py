"""What a person can do on the page, one thing after the other, in one window."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from playwright.sync_api import expect

from geocorgi.device.attributes.own_places import read_own_places
from geocorgi.tree import cells
from tests.browser.pages import opened, served
from tests.browser.steps import (
    be_at,
    cell,
    clicks_say,
    news,
    report,
    says,
    tab,
    write_policy,
)
from tests.device.network.loopback import serving
from tests.wire.maps import LEAVES

pytestmark = pytest.mark.needs("chromium")
HERE, THERE, WORK = LEAVES[20], LEAVES[3], LEAVES[40]


@pytest.fixture
def page(map_file, tmp_path):
    with served(tmp_path, "--map", map_file) as found:
        yield found


@pytest.fixture
def window(browser, page):
    found = opened(browser, page)
    cell(found, HERE).wait_for()
    yield found
    found.context.close()


def policy(page) -> dict:
    return tomllib.loads((page.data / "policy.toml").read_text(encoding="utf-8"))


def chosen(window, label: str, option: str) -> None:
    window.get_by_label(label, exact=label in {"What", "Is"}).click()
    window.get_by_role("option", name=re.compile(option)).click()


def test_a_place_is_found_by_coordinates_cell_name_and_own_place(window, page):
    field = window.get_by_label("Coordinates, cell, own place or name")
    latitude, longitude = cells.centre(HERE)

    def search(text: str) -> None:
        field.fill(text)
        field.press("Enter")

    search(f"{latitude:.5f}, {longitude:.5f}")
    says(window, "That is where you are")
    expect(cell(window, HERE)).to_have_accessible_name(re.compile("you"))
    search(THERE)
    expect(cell(window, THERE)).to_have_accessible_name(re.compile("you"))
    search("Hayes")
    expect(cell(window, THERE)).not_to_have_accessible_name(re.compile("you"))
    clicks_say(window, "Here is my home")
    cell(window, WORK).click()
    says(window, "Your home is changed")
    search("home")
    expect(cell(window, WORK)).to_have_accessible_name(re.compile("you, home"))
    search("0, 0")
    says(window, "lies in no leaf of this map")
    search("nowhere at all")
    says(window, "Nothing of that name is known here")


@pytest.mark.slow
def test_gpsd_says_where_she_is(browser, map_file, tmp_path):
    latitude, longitude = cells.centre(HERE)
    fix = {"class": "TPV", "mode": 3, "lat": latitude, "lon": longitude}
    with (
        serving(json.dumps(fix).encode() + b"\n", until=b"\n") as gpsd,
        served(tmp_path, "--map", map_file, "--gpsd", f"127.0.0.1:{gpsd.port}") as page,
    ):
        window = opened(browser, page)
        window.get_by_role("button", name="Ask my receiver (gpsd)").click()
        says(window, "That is where you are")
        expect(cell(window, HERE)).to_have_accessible_name(re.compile("you"))


def test_a_policy_is_put_together_in_a_form_and_seen_on_the_map(window, page):
    be_at(window, HERE)
    clicks_say(window, "Here is my home")
    cell(window, THERE).click()
    says(window, "Your home is changed")
    clicks_say(window, "Never report this cell")
    cell(window, WORK).click()
    says(window, "The painted cells are changed")
    assert policy(page)["black_list"] == [{"cells": [WORK]}]
    assert read_own_places(page.data).home == (THERE,)

    tab(window, "Policy")
    window.get_by_role("switch", name="my home").click()
    says(window, "My home: never reported")
    expect(cell(window, THERE)).to_have_accessible_name(re.compile("never reported: home = False"))
    chosen(window, "What", "^popular_18$")
    chosen(window, "Is", "^≥$")
    window.get_by_label("Value").fill("1")
    window.get_by_role("button", name="Add", exact=True).click()
    says(window, "One more rule: popular_18 ≥ 1")
    assert policy(page)["preferences"] == ["home = False", "popular_18 ≥ 1"]
    window.get_by_role("button", name="Remove popular_18 ≥ 1").click()
    says(window, "The rule is gone")


@pytest.mark.slow
def test_levels_are_chosen_and_outlined_and_the_rest_is_in_the_form_too(window, page):
    tab(window, "Policy")
    chosen(window, "Privacy level", "^1:")
    says(window, "Privacy level 1")
    expect(window.get_by_label("Privacy level")).to_be_focused()  # the form was drawn anew
    assert policy(page)["privacy_level"] == 1
    chosen(window, "Privacy level", "^2:")
    says(window, "Privacy level 2")
    chosen(window, "Precision level", "^1:")
    says(window, "Precision level 1")
    assert policy(page)["precision_level"] == 1
    expect(window.get_by_text("level 1", exact=True)).to_be_visible()

    window.get_by_text("More: budget").click()
    window.get_by_label("Ceiling, per km").fill("6")
    window.get_by_role("button", name="Use this budget").click()
    says(window, "The budget is changed")
    assert policy(page)["budget"]["ceiling_per_km"] == 6
    chosen(window, "More removed than", "report nothing")
    says(window, "The policy is changed")
    assert policy(page)["on_excess"] == "refuse"


def test_protection_is_chosen_in_metres_with_two_circles(window, page):
    be_at(window, HERE)
    tab(window, "Policy")
    window.get_by_label("Metres", exact=True).fill("300")
    window.get_by_role("button", name="Show the circles").click()
    expect(window.locator("svg.map circle.circle")).to_have_count(2)
    expect(window.locator("svg.map circle.dashed")).to_have_count(1)
    says(window, "")
    expect(window.get_by_text("this map offers nothing as strict").first).to_be_visible()
    window.get_by_label("Metres", exact=True).fill("200")
    window.get_by_role("button", name="Show the circles").click()
    expect(window.get_by_text("this wish gets 5").first).to_be_visible()
    expect(window.get_by_text("protected within 277 m")).to_be_visible()
    window.get_by_role("button", name="Use this protection").click()
    says(window, "Protected within 200 m")
    assert policy(page)["protection"] == {"radius": "0.2 km"}
    window.get_by_role("button", name="Hide them").click()
    expect(window.locator("svg.map circle.circle")).to_have_count(0)


def test_what_the_server_learns_is_seen_before_it_is_asked_and_the_heat_after(window, page):
    be_at(window, HERE)
    clicks_say(window, "Never report this cell")
    cell(window, THERE).click()
    says(window, "The painted cells are changed")
    tab(window, "Meaning")
    for sentence in (
        "asked for privacy level 2, delta 2, rows keep, 5 per km",
        "of any one area of the map the rules take at most 1",
        '"delta": 2',
        "S in your area: 1 of 49 cells",
        "Not guaranteed",
    ):
        expect(window.get_by_text(sentence).first).to_be_visible()
    window.get_by_role("button", name="Check").click()
    says(window, "Checked")
    expect(
        window.get_by_text("per km after your changes; 5 was asked for: it holds")
    ).to_be_visible()
    expect(window.get_by_text("chance to be sent")).to_be_visible()
    names = window.locator("svg.map [data-cell]").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    shares = [float(re.search(r"reported with (<?[\d.]+) %", name)[1]) for name in names]
    assert sum(shares) == pytest.approx(100, abs=2)


@pytest.mark.slow
def test_the_ceiling_is_said_and_history_can_be_forgotten(window, page):
    be_at(window, HERE)
    write_policy(window, "privacy_level = 2\n[budget]\nceiling_per_km = 6.0\n")
    says(window, "The policy is in use")
    report(window)
    says(window, "Reported")
    expect(window.get_by_text("5 of 6 per km")).to_be_visible()
    tab(window, "Where")
    cell(window, THERE).click()
    report(window)
    says(window, "The budget is at its ceiling")
    tab(window, "History")
    expect(window.get_by_text("1 per km", exact=True)).to_be_visible()
    expect(window.get_by_text(re.compile("at the ceiling until"))).to_be_visible()
    window.get_by_role("button", name="Erase the history …").click()
    window.get_by_role("button", name="Erase it").click()
    says(window, "1 places and 1 reports are erased")
    expect(window.get_by_text("Nothing was sent yet.")).to_be_visible()


def test_a_policy_goes_out_and_comes_in(window, page, tmp_path):
    tab(window, "Policy")
    with window.expect_download() as download:
        window.get_by_role("button", name="Export").click()
    assert download.value.url.startswith("blob:")
    exported = tmp_path / "exported.toml"
    download.value.save_as(exported)
    assert tomllib.loads(exported.read_text(encoding="utf-8"))["privacy_level"] == 2
    exported.write_text("privacy_level = 1\n# a remark of hers\n", encoding="utf-8")
    with window.expect_file_chooser() as chooser:
        window.get_by_role("button", name="Import").click()
    chooser.value.set_files(exported)
    says(window, "The policy of exported.toml is in use")
    assert "# a remark of hers" in (page.data / "policy.toml").read_text(encoding="utf-8")


def test_home_and_office_are_proposed_from_her_history(window, page, tmp_path):
    history = tmp_path / "mine.csv"
    history.write_text(visits(), encoding="utf-8")
    with window.expect_file_chooser() as chooser:
        window.get_by_role("button", name="Propose from my history …").click()
    chooser.value.set_files(history)
    says(window, "Proposed from your history")
    expect(window.get_by_text(f"Home seems to be {THERE}")).to_be_visible()
    expect(window.get_by_text(f"Office seems to be {WORK}")).to_be_visible()
    assert read_own_places(page.data) is None
    window.get_by_role("button", name="Mark as home").click()
    says(window, "Home is marked")
    assert read_own_places(page.data).home == (THERE,)
    window.get_by_role("button", name="Not my office").click()
    expect(window.get_by_text("Office: not marked")).to_be_visible()
    assert not list(page.data.glob(".history*"))
    expect(news(window)).to_be_visible()


def visits() -> str:
    """Return two weeks of nights at one leaf and working days at another, in UTC."""
    lines = ["time,latitude,longitude"]
    for day in range(1, 15):
        for hour, leaf in ((6, THERE), (7, THERE), (18, WORK), (23, WORK)):
            if leaf == THERE or day % 7 not in (6, 0):
                latitude, longitude = cells.centre(leaf)
                lines.append(f"2010-02-{day:02}T{hour:02}:00:00Z,{latitude:.6f},{longitude:.6f}")
    return "\n".join(lines) + "\n"
