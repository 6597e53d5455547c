"""What an operator runs: public maps, forests that prove what they promise, and the service.

Example: [bold]geocorgi-server matrix --epsilon 5 --out matrix.safetensors[/bold]
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from geocorgi.server.wall import raise_wall
from geocorgi.terminal import new_command, run_command


def commands() -> typer.Typer:
    """Return the commands; what a part of them needs and is not installed is said when they run."""
    from geocorgi.server.forest_command import forest_command  # noqa: PLC0415
    from geocorgi.server.map_command import map_command  # noqa: PLC0415
    from geocorgi.server.matrix_command import matrix_command  # noqa: PLC0415
    from geocorgi.server.precompute_command import precompute_command  # noqa: PLC0415
    from geocorgi.server.serve_command import serve_command  # noqa: PLC0415

    app = new_command(__doc__)
    app.command("matrix")(matrix_command)
    app.command("map")(map_command)
    app.command("forest")(forest_command)
    app.command("precompute")(precompute_command)
    app.command("serve")(serve_command)
    return app


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the operator's command."""
    run_command(commands, "geocorgi-server", arguments)


def main() -> None:
    """Run it as a process of its own, which nothing of a device ever enters."""
    raise_wall()
    run()


if __name__ == "__main__":
    main()
