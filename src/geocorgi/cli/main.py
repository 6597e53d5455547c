"""Hand out a location without giving yourself away, and prove it.

Exit codes:
0: done, and what was asked about holds.
1: done, and it does not hold.
2: refused: the command, a value or a file is wrong.
130: interrupted.

Example: [bold]geocorgi tree[/bold]
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.markup import escape

import geocorgi
from geocorgi.cli.audit import audit_command
from geocorgi.cli.tree import tree_command
from geocorgi.errors import GeocorgiError

REFUSED = 2


@dataclass(slots=True)
class Settings:
    """What holds for every word of the command."""

    debug: bool = False


app = typer.Typer(
    help=__doc__, add_completion=False, no_args_is_help=True, rich_markup_mode="rich",
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
app.command("tree")(tree_command)
app.command("audit")(audit_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"geocorgi {geocorgi.__version__}")
        raise typer.Exit


@app.callback()
def _settings(
    context: typer.Context,
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    version: bool = typer.Option(  # noqa: ARG001 - it acts through its callback
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    context.obj.debug = debug


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command; every refusal is one sentence on standard error."""
    settings = Settings()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without a letter shows '?' instead
            stream.reconfigure(errors="replace")
    try:
        app(args=arguments, obj=settings, prog_name="geocorgi")
    except GeocorgiError as refusal:
        if settings.debug:
            traceback.print_exception(refusal)
        Console(stderr=True, soft_wrap=True).print(f"[red]geocorgi:[/red] {escape(str(refusal))}")
        sys.exit(REFUSED)


if __name__ == "__main__":
    run()
