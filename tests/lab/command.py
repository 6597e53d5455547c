"""Running the laboratory's command in this process."""

from __future__ import annotations

import pytest

from geocorgi.lab.cli import run
from tests.cli.command import COLOUR, Said


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Said:
    """Run ``geocorgi-lab`` in this process."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        run([str(word) for word in words])
    code = end.value.code
    assert isinstance(code, int)
    return Said(code, *(COLOUR.sub("", stream) for stream in capsys.readouterr()))
