"""How the commands speak: tables for people, one JSON object for programs, one sentence of refusal.

Exit codes, the same for every command: 0 done, and what was asked about holds; 1 done, and it
does not hold; 2 refused; 130 interrupted.
"""

from __future__ import annotations

import io
import json
import math
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

import geocorgi
from geocorgi.errors import GeocorgiError

DOES_NOT_HOLD = 1
REFUSED = 2
INTERRUPTED = 130

console = Console(highlight=False)
messages = Console(stderr=True, highlight=False)


@dataclass(slots=True)
class Settings:
    """What holds for every word of a command."""

    debug: bool = False


def new_command(help_text: str | None) -> typer.Typer:
    """Return an empty command with the options that all commands have."""
    app = typer.Typer(
        help=help_text,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_settings)
    return app


def run_command(
    app: typer.Typer | Callable[[], typer.Typer], name: str, arguments: Sequence[str] | None = None
) -> None:
    """Run a command, or what makes one; every refusal is one sentence on standard error."""
    settings = Settings()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without a letter shows '?' instead
            stream.reconfigure(errors="replace")
    try:
        command = app if isinstance(app, typer.Typer) else app()
        command(args=arguments, obj=settings, prog_name=name)
    except GeocorgiError as refusal:
        if settings.debug:
            traceback.print_exception(refusal)
        Console(stderr=True, soft_wrap=True).print(f"[red]{name}:[/red] {escape(str(refusal))}")
        sys.exit(REFUSED)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; JSON has no infinity, so an infinite number is ``null``."""
    typer.echo(json.dumps(finite(value), indent=2, allow_nan=False, ensure_ascii=False))


def finite(value: Any) -> Any:
    """Return the value with ``None`` for every number that JSON cannot write."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"geocorgi {geocorgi.__version__}")
        raise typer.Exit


def _settings(
    context: typer.Context,
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    version: bool = typer.Option(  # noqa: ARG001 - it acts through its callback
        False,
        "--version",
        callback=_show_version,
        is_eager=True,
        help="Show the version.",
    ),
) -> None:
    context.obj.debug = debug
