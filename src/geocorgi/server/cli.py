"""What an operator runs: generating matrices that prove what they promise.

Example: [bold]geocorgi-server matrix --epsilon 5 --out matrix.safetensors[/bold]
"""

from __future__ import annotations

from collections.abc import Sequence

from geocorgi.server.matrix_command import matrix_command
from geocorgi.terminal import new_command, run_command

app = new_command(__doc__)
app.command("matrix")(matrix_command)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the operator's command."""
    run_command(app, "geocorgi-server", arguments)


if __name__ == "__main__":
    run()
