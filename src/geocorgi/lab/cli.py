"""The laboratory: the paper's experiments beside ours, each by one command.

Example: [bold]geocorgi-lab run convergence --quick --out results[/bold]
"""

from __future__ import annotations

from collections.abc import Sequence

from geocorgi.lab.command import document_command, list_command, run_experiments
from geocorgi.terminal import new_command, run_command

app = new_command(__doc__)
app.command("list")(list_command)
app.command("run")(run_experiments)
app.command("document")(document_command)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the laboratory's command."""
    run_command(app, "geocorgi-lab", arguments)


if __name__ == "__main__":
    run()
