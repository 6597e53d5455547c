"""Write the reference of the commands from the commands themselves, when the site is built."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from geocorgi.cli.main import app as users
from geocorgi.lab.cli import commands as researchers
from geocorgi.server.cli import commands as operators

PAGE = Path(__file__).resolve().parent / "reference" / "commands.md"
HEADER = """\
# Commands

*Made from the commands themselves, as `--help` shows them.* What they end with:
[exit codes](exit-codes.md). Options of all of them: `--debug` before the command's name shows the
traceback of an error, `--version`, `--help`.
"""
COMMANDS = {"geocorgi": users, "geocorgi-server": operators(), "geocorgi-lab": researchers()}


def page() -> str:
    """Return the page."""
    found = [HEADER]
    for name, app in COMMANDS.items():
        command = typer.main.get_command(app)
        words = inspect.cleandoc(command.help or "").split("\n\n", maxsplit=1)[0]
        found.append(f"\n## {name}\n\n{_text(words)}\n")
        found += _commands(name, command)
    return "".join(found)


def _commands(name: str, command: Any) -> Iterator[str]:
    for word, inner in sorted(command.commands.items()):
        if getattr(inner, "commands", None):
            yield from _commands(f"{name} {word}", inner)
        else:
            yield _command(f"{name} {word}", inner)


def _command(name: str, command: Any) -> str:
    parts = [f"\n### {name}\n"]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        example = re.fullmatch(r"Example: \[bold\](.*)\[/bold\]", " ".join(paragraph.split()))
        parts.append(f"```text\n{example[1]}\n```\n" if example else f"{_text(paragraph)}\n")
    shown = [parameter for parameter in command.params if parameter.name != "help"]
    if shown:
        parts.append("".join(map(_parameter, shown)))
    return "\n".join(parts)


def _parameter(parameter: Any) -> str:
    """Return an argument or option as an entry of a definition list."""
    is_option = parameter.param_type_name == "option"
    names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name.upper()]
    said = [_text(getattr(parameter, "help", None) or "")]
    if usual := _usual(parameter.default):
        said.append(f"*Usually* `{usual}`.")
    if parameter.envvar:
        said.append(f"*Else from* `{parameter.envvar}`.")
    if parameter.required:
        said.append("*Required.*")
    return f"{', '.join(f'`{name}`' for name in names)}\n: {' '.join(said)}\n\n"


def _usual(default: Any) -> str:
    """Return what holds where nothing is said; "" where that is nothing."""
    if default is None or default is ... or isinstance(default, bool) or callable(default):
        return ""
    each = default if isinstance(default, list | tuple) else [default]
    return ", ".join(str(getattr(value, "value", value)) for value in each)


def _text(paragraph: str) -> str:
    """Return help as Markdown: one line, without the terminal's markup."""
    plain = re.sub(r"\[/?(?:bold|dim|italic|green|red|yellow)\]", "", " ".join(paragraph.split()))
    escaped = plain.replace("<", "\\<").replace("*", "\\*")
    return re.sub(r"(?<![\w`-])--[a-z][a-z-]*", lambda option: f"`{option[0]}`", escaped)


def write(*_: Any) -> None:
    """Write the page; the site's builder calls this first."""
    text = page()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
