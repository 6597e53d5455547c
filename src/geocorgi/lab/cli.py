"""The laboratory: the paper's experiments beside ours, each by one command.

Example: [bold]geocorgi-lab run convergence --quick --out results[/bold]
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from geocorgi.terminal import new_command, run_command


def commands() -> typer.Typer:
    """Return the commands; what a part of them needs and is not installed is said when they run."""
    from geocorgi.lab.command import (  # noqa: PLC0415
        document_command,
        list_command,
        run_experiments,
    )

    app = new_command(__doc__)
    app.command("list")(list_command)
    app.command("run")(run_experiments)
    app.command("document")(document_command)
    return app


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the laboratory's command."""
    run_command(commands, "geocorgi-lab", arguments)


if __name__ == "__main__":
    run()
