"""``geocorgi budget``: what fresh draws have cost, and when there is room again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from geocorgi.device.budget import Balance, balance
from geocorgi.device.data_folder import data_folder
from geocorgi.device.ledger import Ledger, utc_now
from geocorgi.device.offers import wished_per_km
from geocorgi.device.policy import LONGEST_PERIOD_HOURS, Budget, Policy
from geocorgi.device.policy_file import read_policy
from geocorgi.terminal import DOES_NOT_HOLD, console, print_json

USUAL_POLICY = "policy.toml"
SPANS = {"a day": 24.0, "a week": 168.0, "30 days": 720.0, "ever": LONGEST_PERIOD_HOURS}


def budget_command(
    policy_file: Path | None = typer.Option(
        None, "--policy", help="The policy; else policy.toml of the data folder; else no ceiling."
    ),
    data: Path | None = typer.Option(None, "--data", help="The data folder; else GEOCORGI_DATA."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Show the composed epsilon of fresh draws, the ceiling, and when the next draw fits.

    Replays are free and appear in none of the sums. Exit code 1 if no report fits now: then every
    place is refused (or the last report repeated), places reported before as well.

    Example: [bold]geocorgi budget --policy policy.toml --json[/bold]
    """
    folder = data_folder(data)
    policy = _policy(policy_file, folder / USUAL_POLICY)
    cost = wished_per_km(policy.protection)
    with Ledger(folder) as ledger:
        charges = ledger.charges()
    now = utc_now()
    state = balance(charges, policy.budget, now, cost)
    spans = {
        name: balance(charges, Budget(period_hours=hours), now, cost).spent_per_km
        for name, hours in SPANS.items()
    }
    if as_json:
        print_json(_described(state, cost, spans))
    else:
        _show(state, cost, spans)
    if not state.fits:
        raise typer.Exit(DOES_NOT_HOLD)


def _policy(named: Path | None, usual: Path) -> Policy:
    if named is None and not usual.exists():
        return Policy(2, 0)
    return read_policy(named or usual)


def _described(state: Balance, cost: float, spans: dict[str, float]) -> dict[str, Any]:
    frees = state.frees_at
    return {
        "spent_per_km": state.spent_per_km,
        "fresh_draws": state.draws,
        "ceiling_per_km": state.budget.ceiling_per_km,
        "period_hours": state.budget.period_hours,
        "at_ceiling": state.budget.at_ceiling,
        "next_draw_per_km": cost,
        "fits": state.fits,
        "frees_at": None if frees is None else frees.isoformat(timespec="seconds"),
        "composed_per_km": {name.replace(" ", "_"): spent for name, spent in spans.items()},
    }


def _show(state: Balance, cost: float, spans: dict[str, float]) -> None:
    ceiling = state.budget.ceiling_per_km
    table = Table(show_header=False, box=None, padding=(0, 2))
    of = "no ceiling" if ceiling is None else f"of {ceiling:g}"
    table.add_row(
        "spent", f"{state.spent_per_km:g} per km, {of}, within {state.budget.period_hours:g} hours"
    )
    table.add_row("fresh draws", f"{state.draws}, the next costs at most {cost:g} per km")
    for name, spent in spans.items():
        table.add_row(f"composed, {name}", f"{spent:g} per km")
    console.print(table)
    if state.fits:
        console.print("[green]room for a fresh draw[/green]")
    elif state.frees_at is None:
        console.print("[red]no draw ever fits[/red]: one costs more than the ceiling")
    else:
        when = state.frees_at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        console.print(f"[red]at the ceiling[/red] until {when}, for every place alike")
