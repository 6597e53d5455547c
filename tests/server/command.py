"""Running the operator's command in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from geocorgi.server import cli
from tests.cli import command
from tests.cli.command import Said


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Said:
    """Run ``geocorgi-server``."""
    return command.said(capsys, *words, program=cli.run)


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    """Return the JSON object that it answers."""
    code, out, err = said(capsys, *words, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found
