"""Running the command, in this process or as a user's shell does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from geocorgi.cli.main import run

COLOUR = re.compile("\x1b\\[[0-9;]*m")


class Said(NamedTuple):
    """What a run left: its exit code and what it wrote."""

    code: int
    out: str
    err: str


def said(
    capsys: pytest.CaptureFixture[str], *words: object, program: Callable[[list[str]], None] = run
) -> Said:
    """Run the user's command, or another one, in this process."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        program([str(word) for word in words])
    code = end.value.code
    assert isinstance(code, int)
    # On some continuous integrations colours are always on (tests/cli/test_main.py is about them).
    return Said(code, *(COLOUR.sub("", stream) for stream in capsys.readouterr()))


def shell(words: Sequence[str], folder: Path, *options: str, **environment: str) -> Said:
    """Run the command in a process of its own, with nothing written to a terminal."""
    loud = {"GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS", "TERMINAL_WIDTH", "COLUMNS", "NO_COLOR"}
    kept = {name: value for name, value in os.environ.items() if name not in loud}
    done = subprocess.run(
        [sys.executable, *options, "-m", "geocorgi.cli.main", *words],
        cwd=folder,
        env=kept | {"PYTHONIOENCODING": "utf-8"} | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)
