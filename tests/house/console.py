"""A console block as a reader would check it: each command's output and exit code.

    python console.py < block

Lines that begin with ``$ `` are commands (``> `` goes on with one); what follows is what they
print on both streams. ``…`` stands for anything in a line, and alone in a line for any lines. A
command ends well, or ``$ echo $?`` follows and shows how it ended. Output that is not shown is not
looked at.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

SHOW_CODE = "echo $?"


def steps(block: str) -> Iterator[tuple[str, str]]:
    """Yield every command with what it is said to print."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        more = next((at for at, line in enumerate(lines[1:], 1) if line[:2] != "> "), len(lines))
        command = "\n".join([lines[0], *(line[2:] for line in lines[1:more])])
        yield command, "\n".join(lines[more:]).strip("\n")


def is_as_shown(printed: str, shown: str) -> bool:
    """Return whether the output is what is shown, but for blanks at the ends of lines."""
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.rstrip().split("…"))) + r"\s*?\n"
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def run(block: str) -> str | None:
    """Run the block; return what is wrong with it."""
    pairs = list(steps(block))
    for at, (command, shown) in enumerate(pairs):
        if command == SHOW_CODE:
            continue
        done = subprocess.run(
            ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False,
        )  # fmt: skip
        says = pairs[at + 1][1] if pairs[at + 1 :] and pairs[at + 1][0] == SHOW_CODE else "0"
        if str(done.returncode) != says:
            return f"$ {command}\nends with {done.returncode}, not {says}:\n{done.stdout}"
        if shown and not is_as_shown(done.stdout, shown):
            return f"$ {command}\nprints\n{done.stdout}\nand the page shows\n{shown}"
    return None


if __name__ == "__main__":
    sys.exit(run(sys.stdin.read()))
