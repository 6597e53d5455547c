"""A drawing as one HTML file that loads nothing and follows the reader's light or dark."""

from __future__ import annotations

from html import escape

from geocorgi.pictures.drawing import Drawing
from geocorgi.pictures.svg import svg

STYLE = """
:root { color-scheme: light dark; }
body { background: Canvas; color: CanvasText; font-family: system-ui, sans-serif;
       margin: 1rem auto; max-width: 60rem; padding: 0 1rem; }
svg { height: auto; max-width: 100%; }
table { border-collapse: collapse; }
th, td { padding: 0.2rem 0.8rem; text-align: left; }
td { white-space: nowrap; }
td.share { font-variant-numeric: tabular-nums; text-align: right; }
"""


def page(drawing: Drawing) -> str:
    """Return a whole HTML page: the picture, and the same as a table for who cannot see it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(drawing.title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            f"<main>{svg(drawing, paper=None)}</main>",
            "<details><summary>The same as a table</summary>",
            *_table(drawing),
            "</details>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _table(drawing: Drawing) -> list[str]:
    rows = ["<table>", "<tr><th>cell</th><th>share</th><th>note</th></tr>"]
    for cell in drawing.cells:
        share = "" if drawing.shares is None else f"{100 * drawing.shares.get(cell, 0.0):.4g} %"
        notes = [note[cell] for note in (drawing.marked, drawing.crossed) if cell in note]
        rows.append(
            f'<tr><td>{cell}</td><td class="share">{share}</td>'
            f"<td>{escape('; '.join(notes))}</td></tr>"
        )
    return [*rows, "</table>"]
