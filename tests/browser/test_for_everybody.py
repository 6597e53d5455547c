"""By keyboard alone, read aloud, on a telephone and at a desk, in light and dark."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import opened, served
from tests.browser.steps import be_at, cell, clicks_say, report, says, tab
from tests.conftest import REPOSITORY
from tests.wire.maps import LEAVES

pytestmark = pytest.mark.needs("chromium")
HERE = LEAVES[20]
SHOTS = REPOSITORY / "build" / "screenshots"
TABS = ("Where", "Policy", "Meaning", "Report", "History")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
NAMELESS = re.compile(
    r"^\s*- (button|textbox|combobox|switch|checkbox|slider|spinbutton|tab|progressbar|img)"
    r"(:| \[.*\])?$",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def page(map_file, tmp_path_factory):
    with served(tmp_path_factory.mktemp("page"), "--map", map_file) as found:
        yield found


def tab_until(window, wanted) -> None:
    """Press the tabulator until this has the focus."""
    for _ in range(60):
        window.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    pytest.fail(f"the keyboard does not come to {wanted}")


def test_the_keyboard_alone_comes_to_a_report(browser, map_file, tmp_path):
    with served(tmp_path) as page:
        window = opened(browser, page)
        tab_until(window, window.get_by_label("Path of the map, forests beside it"))
        window.keyboard.type(str(map_file))
        window.keyboard.press("Enter")
        says(window, "Now say where you are")
        expect(window.get_by_role("button", name="Stop")).to_be_hidden()
        tab_until(window, window.locator('svg.map [data-cell][tabindex="0"]'))
        first = window.evaluate("document.activeElement.dataset.cell")
        window.keyboard.press("ArrowRight")
        window.keyboard.press("ArrowUp")
        here = window.evaluate("document.activeElement.dataset.cell")
        assert here != first
        window.keyboard.press("Enter")
        says(window, "That is where you are")
        expect(cell(window, here)).to_have_accessible_name(re.compile("you"))
        expect(cell(window, here)).to_be_focused()
        tab_until(window, window.get_by_role("tab", name="Where"))
        for name in ("Policy", "Meaning", "Report"):
            window.keyboard.press("ArrowRight")
            expect(window.get_by_role("tab", name=name)).to_be_focused()
        window.keyboard.press("Enter")
        button = window.get_by_role("button", name="Report", exact=True)
        button.wait_for()
        tab_until(window, button)
        window.keyboard.press("Enter")
        says(window, "Reported to anybody")


def test_arrows_come_to_every_cell(browser, page):
    window = opened(browser, page)
    cell(window, HERE).wait_for()
    reached = window.evaluate(
        """() => {
            const all = [...document.querySelectorAll('svg.map [data-cell]')];
            const seen = new Set([all[0]]), waiting = [all[0]];
            while (waiting.length) {
                const one = waiting.pop();
                for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) {
                    one.focus();
                    one.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
                    const now = document.activeElement;
                    if (!seen.has(now)) { seen.add(now); waiting.push(now); }
                }
            }
            return [seen.size, all.length];
        }"""
    )
    assert reached[0] == reached[1] == len(LEAVES)
    window.context.close()


def test_everything_has_a_name_that_can_be_read_aloud(browser, page):
    window = opened(browser, page)
    be_at(window, HERE)
    for name in TABS:
        tab(window, name)
        heard = window.locator("body").aria_snapshot()
        assert NAMELESS.findall(heard) == []
        assert re.search(rf'tab "{name}" \[selected\]', heard)
    tab(window, "Policy")
    window.get_by_text("More: budget").click()
    window.get_by_label("Ceiling, per km").wait_for()
    assert NAMELESS.findall(window.locator("body").aria_snapshot()) == []
    for landmark in ("banner", "main"):
        expect(window.get_by_role(landmark)).to_have_count(1)
    assert window.locator("html").get_attribute("lang") == "en-US"
    window.context.close()


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (PHONE, "light"),
        (DESK, "dark"),
        pytest.param(PHONE, "dark", marks=pytest.mark.slow),
        pytest.param(DESK, "light", marks=pytest.mark.slow),
    ],
)
def test_it_fits_and_can_be_read_at_every_width_in_light_and_dark(browser, page, size, scheme):
    window = opened(browser, page, viewport=size, color_scheme=scheme)
    cell(window, HERE).wait_for()
    be_at(window, HERE)
    clicks_say(window, "Never report this cell")
    cell(window, LEAVES[4]).click()
    says(window, "The painted cells are changed")
    tab(window, "Meaning")
    window.get_by_role("button", name="Check").click()
    says(window, "Checked")
    report(window)
    says(window, "Reported")
    SHOTS.mkdir(parents=True, exist_ok=True)
    for name in TABS:
        tab(window, name)
        expect(window.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
        window.wait_for_timeout(350)
        shot = SHOTS / f"{size['width']}-{scheme}-{name.lower()}.png"
        window.screenshot(path=shot, full_page=True)
        assert window.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert faint(window) == []
    clicks_say(window, "Never report this cell")
    cell(window, LEAVES[4]).click()
    window.context.close()


def faint(window) -> list[str]:
    """Return the words whose contrast with their ground is below 4.5 (WCAG 2.2, AA)."""
    return window.evaluate(
        """() => {
            const number = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
            const light = (rgb) => {
                const [r, g, b] = rgb.map((one) => {
                    one /= 255;
                    return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = (one) => {
                let over = [];
                for (; one; one = one.parentElement) {
                    const [r, g, b, a = 1] = number(getComputedStyle(one).backgroundColor);
                    if (a > 0) over.unshift([r, g, b, a]);
                    if (a === 1) break;
                }
                return over.reduce((under, [r, g, b, a]) =>
                    [r, g, b].map((value, at) => value * a + under[at] * (1 - a)), [255, 255, 255]);
            };
            const found = [];
            for (const one of document.querySelectorAll('body *:not(svg *)')) {
                const words = [...one.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
                const visible = { opacityProperty: true, visibilityProperty: true };
                if (!words.length || !one.checkVisibility(visible)) continue;
                const [r, g, b, a = 1] = number(getComputedStyle(one).color);
                const under = ground(one);
                const ink = [r, g, b].map((value, at) => value * a + under[at] * (1 - a));
                const [x, y] = [light(ink), light(under)].sort((p, q) => q - p);
                if ((x + 0.05) / (y + 0.05) < 4.5) found.push(one.innerText.slice(0, 40));
            }
            return found;
        }"""
    )
