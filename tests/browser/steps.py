"""What a person does on the page, in few words."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


def cell(window: Page, name: str) -> Locator:
    return window.locator(f'svg.map [data-cell="{name}"]')


def tab(window: Page, name: str) -> None:
    window.get_by_role("tab", name=name).click()


def report(window: Page) -> None:
    tab(window, "Report")
    window.get_by_role("button", name="Report", exact=True).click()


def news(window: Page) -> Locator:
    return window.get_by_role("status")


def says(window: Page, sentence: str) -> None:
    expect(news(window)).to_contain_text(sentence, timeout=20_000)


def clicks_say(window: Page, what: str) -> None:
    window.get_by_label("A click says").click()
    window.get_by_role("option", name=what).click()


def be_at(window: Page, name: str) -> None:
    cell(window, name).click()
    says(window, "That is where you are")


def write_policy(window: Page, text: str) -> None:
    tab(window, "Policy")
    window.get_by_label("The policy").fill(text)
    window.get_by_role("button", name="Use this text").click()
