"""Running the project's own commands as a person would: shown first, each in its own process.

Whatever they keep, they keep in one folder that is gone afterwards; the user's own policy, ledger
and cache are neither read nor written. What is started is stopped, however the block ends.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.markup import escape

from geocorgi.errors import CommandFailed
from geocorgi.terminal import console

MODULES = {
    "geocorgi": "geocorgi.cli.main",
    "geocorgi-server": "geocorgi.server.cli",
}
READY = re.compile(r"ready: (http://127\.0\.0\.1:\d+/)")
SECONDS_TO_START = 60.0
SECONDS_TO_STOP = 20.0


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands, run in one folder, which is all that they know of this machine."""

    folder: Path

    def run(self, *words: str, told: str = "") -> str:
        """Show a command and run it; return what it prints. What it says goes by as it comes.

        What it is told comes on standard input, as from a file.
        """
        self._show((*words, "<", "here.txt") if told else words)
        done = subprocess.run(  # noqa: S603 - this package's own commands
            _command(words), cwd=self.folder, env=self._environment(), input=told,
            stdout=subprocess.PIPE, encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise CommandFailed(f"{words[0]} {words[1]} ended with code {done.returncode}")
        return done.stdout

    @contextmanager
    def started(self, *words: str) -> Iterator[str]:
        """Show a command that stays, and lend the address that it says it is ready at."""
        self._show((*words, "&"))
        with self.log_of(words[0]).open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - this package's own commands
                _command(words), cwd=self.folder, env=self._environment(),
                stdin=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        try:
            yield self._address(process, words[0])
        finally:
            _stop(process)

    def log_of(self, command: str) -> Path:
        """Return where a command that stays writes what it says."""
        return self.folder / f"{command}.log"

    def _show(self, words: tuple[str, ...]) -> None:
        line = " ".join(word if word in "<&" else shlex.quote(word) for word in words)
        console.print(f"[bold cyan]$ {escape(line)}[/bold cyan]", soft_wrap=True)
        sys.stdout.flush()  # in a pipe, too, what the command says comes after it

    def _environment(self) -> dict[str, str]:
        """Return this process's environment without the user's own settings for geocorgi."""
        kept = {name: value for name, value in os.environ.items() if "GEOCORGI" not in name}
        mine = {"GEOCORGI_DATA": "device", "GEOCORGI_CACHE": "cache", "PYTHONIOENCODING": "utf-8"}
        return kept | {
            name: str(self.folder / value) if name.startswith("GEOCORGI") else value
            for name, value in mine.items()
        }

    def _address(self, process: subprocess.Popen[bytes], command: str) -> str:
        """Wait until the command says that it is ready, and where."""
        end = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < end and process.poll() is None:
            found = READY.search(self.log_of(command).read_text(encoding="utf-8"))
            if found:
                return found.group(1)
            time.sleep(0.05)
        said = self.log_of(command).read_text(encoding="utf-8").strip()
        raise CommandFailed(f"{command} did not start: {said or 'it says nothing'}")


def _command(words: tuple[str, ...]) -> list[str]:
    if words[0] in MODULES:
        return [sys.executable, "-m", MODULES[words[0]], *words[1:]]
    return [sys.executable, *words[1:]]  # python


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop it in good order; what does not stop is ended."""
    process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    finally:
        process.kill()
        process.wait()
