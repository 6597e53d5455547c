"""A document as a program: every block that a reader could run or save is run or saved.

The blocks of a page are done in their order, in one empty folder and one shell: ``sh`` blocks are
commands, ``console`` blocks are commands with what they print, which is compared, ``python`` blocks
are programs, a block with a caption is a file of that name. Blocks of other kinds (``text``) show
what is printed and are not run. What a page starts in the background ends with the page. A page
with a line ``% goes on from PAGE`` begins with the files that that page leaves behind.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?P<mark>`{3,}|:{3,})(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=mark)\s*$",
    re.MULTILINE | re.DOTALL,
)
GOES_ON = re.compile(r"^% goes on from (?P<page>\S+)$", re.MULTILINE)
CONSOLE = Path(__file__).with_name("console.py")
CAPTION = re.compile(r"^:caption:\s*(?P<name>\S+)\s*\n", re.MULTILINE)
SHOWN_ONLY = {"text", "", "mermaid"}
LONGEST_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a page: its language, the file it is saved as if any, and its text."""

    language: str
    file: str | None
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of code of a page."""
    for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
        kind, body = fence["kind"].strip(), fence["body"]
        if kind.startswith("{") and not kind.startswith("{code-block}"):
            continue  # a note, a figure, a table of contents
        language = kind.removeprefix("{code-block}").strip()
        caption = CAPTION.match(body)
        text = re.sub(r"\A(:[a-z-]+:[^\n]*\n)+\n?", "", body) if kind.startswith("{") else body
        yield Block(language, caption["name"] if caption else None, text)


def script(page: Path) -> str:
    """Return the page as one shell script that stops at the first thing that fails."""
    lines = ["set -euo pipefail"]
    for block in blocks(page):
        if block.file is not None:
            lines.append(f"cat > '{block.file}' <<'END OF FILE'\n{block.text}END OF FILE")
        elif block.language == "sh":
            lines.append(block.text)
        elif block.language == "console":
            command = f"'{sys.executable}' '{CONSOLE}'"
            lines.append(f"{command} <<'END OF CONSOLE'\n{block.text}END OF CONSOLE")
        elif block.language == "python":
            lines.append(f"python - <<'END OF PROGRAM'\n{block.text}END OF PROGRAM")
        elif block.language not in SHOWN_ONLY:
            raise AssertionError(f"{page.name} has a '{block.language}' block that nobody runs")
    return "\n".join([*lines, "true", ""])


def run_page(page: Path, folder: Path) -> str:
    """Run the page in the folder; return what it printed, or fail with it."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "COLUMNS": "80",
    }
    # Into a file: a pipe would stay open for as long as what the page leaves in the background.
    with (folder / ".printed").open("w+", encoding="utf-8") as printed:
        shell = subprocess.Popen(
            ["bash", "-c", script(page)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = shell.wait(timeout=LONGEST_SECONDS)
        finally:
            _end(shell.pid)
        printed.seek(0)
        text = printed.read()
    assert code == 0, f"{page.name} does not run:\n{text[-3000:]}"
    return text


def goes_on_from(page: Path) -> Path | None:
    """Return the page whose files this one begins with."""
    found = GOES_ON.search(page.read_text(encoding="utf-8"))
    return page.parent / found["page"] if found else None


def run_once(page: Path, shared: Path) -> Path:
    """Run the page once for all processes that share the folder; return where its files are."""
    ran = shared / page.stem
    try:
        ran.mkdir(parents=True)
    except FileExistsError:
        deadline = time.monotonic() + LONGEST_SECONDS
        while not (ran / ".ran").exists():
            assert time.monotonic() < deadline, f"{page.name} did not run, so nothing goes on"
            time.sleep(0.1)
        return ran
    run_page(page, ran)
    (ran / ".ran").touch()
    return ran


def go_on(ran: Path, folder: Path) -> None:
    """Begin with a copy of the files that a page has left."""
    shutil.copytree(ran, folder, dirs_exist_ok=True)


def _end(group: int) -> None:
    """End whatever the page has left running."""
    try:
        os.killpg(group, signal.SIGTERM)
    except ProcessLookupError:
        return
