"""Hand out a location without giving yourself away, and prove it.

Exit codes:
0: done, and what was asked about holds.
1: done, and it does not hold.
2: refused: the command, a value, a file or an answer is wrong, or there is no answer.
130: interrupted.

Example: [bold]geocorgi tree[/bold]
"""

from __future__ import annotations

from collections.abc import Sequence

from geocorgi.cli.app import app_command
from geocorgi.cli.audit import audit_command
from geocorgi.cli.budget import budget_command
from geocorgi.cli.epsilon import epsilon_command
from geocorgi.cli.explain import explain_command
from geocorgi.cli.history import history_command
from geocorgi.cli.picture import picture_app
from geocorgi.cli.place_option import PLACE_IN_WORDS
from geocorgi.cli.policy import policy_app
from geocorgi.cli.protect import protect_command
from geocorgi.cli.report import report_command
from geocorgi.cli.sync import sync_command
from geocorgi.cli.tree import tree_command
from geocorgi.terminal import new_command, run_command

app = new_command(__doc__)
app.command("tree")(tree_command)
app.command("audit")(audit_command)
app.command("report", context_settings=PLACE_IN_WORDS)(report_command)
app.command("explain", context_settings=PLACE_IN_WORDS)(explain_command)
app.command("protect")(protect_command)
app.command("history")(history_command)
app.command("budget")(budget_command)
app.command("epsilon")(epsilon_command)
app.command("sync")(sync_command)
app.command("app")(app_command)
app.add_typer(picture_app, name="picture")
app.add_typer(policy_app, name="policy")


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the user's command."""
    run_command(app, "geocorgi", arguments)


if __name__ == "__main__":
    run()
