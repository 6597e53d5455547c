"""Words on the page, escaped: headings, paragraphs, lists of facts, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from nicegui import ui


def heading(text: str) -> None:
    """Write a heading."""
    ui.html(escape(text), tag="h2", sanitize=False)


def paragraph(text: str, *, soft: bool = False) -> None:
    """Write a paragraph."""
    ui.html(escape(text), tag="p", sanitize=False).classes("soft" if soft else "")


def code(text: str) -> None:
    """Write what is typed elsewhere."""
    ui.html(escape(text), tag="code", sanitize=False).classes("block")


def sentences(said: Iterable[str]) -> None:
    """Write a list."""
    items = "".join(f"<li>{escape(one)}</li>" for one in said)
    ui.html(items, tag="ul", sanitize=False).classes("said-list")


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Write what is what."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs)
    ui.html(rows, tag="dl", sanitize=False).classes("facts")


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    ui.html(
        f'<table class="plain"><caption class="soft" style="text-align:left">{escape(caption)}'
        f"</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>",
        sanitize=False,
    )
