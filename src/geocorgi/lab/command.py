"""``geocorgi-lab list``, ``run`` and ``document``."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from geocorgi.errors import BadFile
from geocorgi.lab.experiment import SEED, Setting
from geocorgi.lab.experiments import EXPERIMENTS, experiments_of
from geocorgi.lab.outcome import Account, read_accounts, write_outcome
from geocorgi.lab.page import write_page
from geocorgi.lab.run import Running, measured
from geocorgi.terminal import console, messages, print_json


def list_command() -> None:
    """List the experiments.

    Example: [bold]geocorgi-lab list[/bold]
    """
    table = Table(show_header=False, box=None, padding=(0, 2))
    for experiment in EXPERIMENTS:
        table.add_row(f"[bold]{experiment.name}[/bold]", experiment.title)
    console.print(table)


def run_experiments(
    name: str = typer.Argument(..., help="An experiment, or 'all' of them."),
    quick: bool = typer.Option(
        False, "--quick", help="Small instances: seconds, no findings to quote."
    ),
    out: Path = typer.Option(Path("lab-output"), help="The folder for tables and figures."),
    data: Path | None = typer.Option(
        None, help="The folder of the real check-ins; without it a made-up city stands in."
    ),
    seed: int = typer.Option(SEED, help="What chance follows from."),
    keep: bool = typer.Option(
        False, "--keep", help="Keep what other versions of the code measured; the page says so."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Run experiments: of each a table (CSV and Parquet), a figure (SVG and PNG) and findings.

    Interrupted, it resumes where it was when run again.

    Example: [bold]geocorgi-lab run all --quick --out results[/bold]

    Example: [bold]geocorgi-lab run convergence --data gowalla --out results[/bold]
    """
    chosen = experiments_of(name)
    setting = Setting(None if data is None else data.resolve(), quick, seed)
    out.mkdir(parents=True, exist_ok=True)
    accounts = []
    for experiment in chosen:
        found = measured(experiment, setting, out, _told, Running(keep=keep))
        accounts.append(write_outcome(found, setting, out))
        if not as_json:
            _show(accounts[-1])
    if as_json:
        print_json({"experiments": accounts})


def document_command(
    out: Path = typer.Argument(..., help="A folder that 'run' wrote."),
    to: Path = typer.Option(Path("reproduction.md"), help="The page to write."),
    figures: Path | None = typer.Option(
        None, help="A folder for copies of what the page shows; without it the page links to OUT."
    ),
) -> None:
    """Write the page of all claims, figures and findings from what 'run' left in a folder.

    Example: [bold]geocorgi-lab document results --to reproduction.md --figures figures[/bold]
    """
    accounts = read_accounts(out, tuple(experiment.name for experiment in EXPERIMENTS))
    if not accounts:
        raise BadFile(f"{out.name} holds no results: 'geocorgi-lab run all --out' fills it")
    write_page(accounts, out, to, figures)
    console.print(f"written: {to.name}, from {len(accounts)} experiments")


def _told(name: str, done: int, total: int) -> None:
    messages.print(f"{name}: {done} of {total} cases")


def _show(account: Account) -> None:
    console.rule(account["title"])
    for finding in account["findings"]:
        console.print(f"- {finding}", markup=False)
