"""Running the laboratory's command in this process."""

from __future__ import annotations

from functools import partial

from geocorgi.lab.cli import run
from tests.cli import command

said = partial(command.said, program=run)
