"""The policy as text: to be edited, exported and imported."""

from __future__ import annotations

from nicegui import events, ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.words import heading, paragraph
from geocorgi.device.policy_example import EXAMPLE
from geocorgi.device.policy_file import LARGEST_BYTES
from geocorgi.errors import BadFile


def draw_text(desk: Desk) -> None:
    """Draw the text, and the ways in and out."""
    heading("As text")
    paragraph("TOML, or the paper's notation. A refusal names the line.", soft=True)
    field = ui.textarea("The policy", value=desk.session.text)
    field.props("outlined autogrow input-style='font-family: monospace; font-size: .85rem'")
    field.mark("policy text")

    async def use() -> None:
        text = field.value or ""
        await desk.use(lambda: desk.session.use_text(text), "The policy is in use, and kept.")

    async def imported(event: events.UploadEventArguments) -> None:
        content = await event.file.read()
        upload.reset()

        def put() -> None:
            desk.session.use_text(_text(content))

        await desk.use(put, f"The policy of {event.file.name} is in use.")

    def exported() -> None:
        ui.download.content(desk.session.text, "policy.toml", "application/toml")

    def example() -> None:
        field.value = EXAMPLE

    with ui.element("div").classes("row-of"):
        ui.button("Use this text", on_click=use).props("no-caps unelevated")
        ui.button("Show an example", on_click=example).props("outline no-caps")
        ui.button("Export", on_click=exported).props("outline no-caps")
        upload = ui.upload(on_upload=imported, auto_upload=True, max_files=1).classes("hidden")
        upload.props('accept=".toml,.txt" aria-hidden="true"')
        ui.button("Import", on_click=lambda: upload.run_method("pickFiles")).props(
            "outline no-caps"
        )

    def again() -> None:
        field.value = desk.session.text

    desk.with_policy(again)


def _text(content: bytes) -> str:
    if len(content) > LARGEST_BYTES:
        raise BadFile(f"the file is larger than any policy: {LARGEST_BYTES:,} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise BadFile("the file is not text in UTF-8") from None
