"""``geocorgi epsilon``: a promise in metres as an epsilon, and the reverse."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from geocorgi.device.notation import parse_quantity
from geocorgi.device.promise import (
    Errors,
    epsilon_for_error,
    errors_of_forest,
    errors_of_universal,
    levels_to_judge,
)
from geocorgi.device.units import UNITS, Kind, units_of
from geocorgi.errors import InvalidInput, PolicyNotMet
from geocorgi.matrix.epsilon import require_epsilon
from geocorgi.matrix.forest_file import read_forest
from geocorgi.matrix.protection_radius import FACTOR, epsilon_within, protection_radius_km
from geocorgi.terminal import console, print_json
from geocorgi.wire.map_codec import map_id, read_map
from geocorgi.wire.public_map import PublicMap

ASSUMED = (
    f"radius: one report makes one of two places at most {FACTOR:g} times as likely against the "
    "other; no prior is assumed, and n fresh reports multiply the factor n times",
    "error: the best guess of an adversary who knows the map's prior and the mechanism and sees "
    "one report; whoever knows more errs less",
    "any mechanism: no epsilon-Geo-Ind matrix, and no single report, leaves the adversary less",
    "distances are between cell centres inside one subtree of the privacy level",
)


def epsilon_command(
    protect: str | None = typer.Option(None, help="The promise, such as 500m or '0.3 miles'."),
    epsilon: float | None = typer.Option(None, help="The reverse: what this epsilon promises."),
    map_file: Path | None = typer.Option(None, "--map", help="Judge it by this map's prior."),
    level: int | None = typer.Option(None, help="With --map: only this privacy level."),
    forest: list[Path] = typer.Option([], help="With --map: judge this forest's own matrices."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Choose epsilon from a promise in metres, or say in metres what an epsilon promises.

    By the plain radius, and with a map by how far an adversary who knows its prior errs on average.
    A server offers some epsilons: a wish snaps to the next stricter one.

    Example: [bold]geocorgi epsilon --protect 500m --map map.json[/bold]

    Example: [bold]geocorgi epsilon --epsilon 5 --json[/bold]
    """
    if (protect is None) == (epsilon is None):
        raise InvalidInput("say one of --protect LENGTH and --epsilon NUMBER")
    wished_km = None if protect is None else _length_km(protect)
    plain = require_epsilon(epsilon or 0.0) if wished_km is None else epsilon_within(wished_km)
    answer: dict[str, Any] = {
        "wish_km": wished_km,
        "radius": {
            "epsilon_per_km": plain,
            "radius_km": protection_radius_km(plain),
            "factor": FACTOR,
        },
        "assumptions": list(ASSUMED),
    }
    if map_file is not None:
        answer |= _on_map(read_map(map_file), plain, wished_km, level, forest)
    elif forest or level is not None:
        raise InvalidInput("--level and --forest go with a --map")
    if as_json:
        print_json(answer)
    else:
        _show(answer)


def _length_km(text: str) -> float:
    found = parse_quantity(text)
    if found is None or found[1] is None or UNITS[found[1]].kind is not Kind.LENGTH:
        raise InvalidInput(f"--protect takes a length with its unit: {units_of(Kind.LENGTH)}")
    return UNITS[found[1]].in_base(found[0])


def _on_map(
    public_map: PublicMap,
    plain: float,
    wished_km: float | None,
    level: int | None,
    forests: list[Path],
) -> dict[str, Any]:
    if level is not None and not 1 <= level <= public_map.height:
        raise InvalidInput(f"this map has privacy levels 1 to {public_map.height}")
    levels = levels_to_judge(public_map) if level is None else (level,)
    universal = []
    for one in levels:
        if wished_km is None:
            universal.append(_described(errors_of_universal(public_map, one, plain)))
        else:
            universal.append(_for_wish(public_map, one, wished_km))
    judged = []
    for path in forests:
        found = read_forest(path)
        if found.map_id != map_id(public_map):
            raise InvalidInput(f"{path.name} is a forest of another map")
        judged.append({"file": path.name} | _described(errors_of_forest(public_map, found)))
    offered = sorted({entry.epsilon_per_km for entry in public_map.catalogue})
    stricter = [epsilon for epsilon in offered if epsilon <= plain]
    return {
        "offered_per_km": offered,
        "next_stricter_per_km": stricter[-1] if stricter else None,
        "universal": universal,
        "forests": judged,
    }


def _for_wish(public_map: PublicMap, level: int, wished_km: float) -> dict[str, Any]:
    try:
        return _described(epsilon_for_error(public_map, level, wished_km))
    except PolicyNotMet as refusal:
        return {"privacy_level": level, "impossible": str(refusal)}


def _described(errors: Errors) -> dict[str, Any]:
    return asdict(errors)


def _show(answer: dict[str, Any]) -> None:
    radius = answer["radius"]
    console.print(
        f"[bold]{radius['epsilon_per_km']:.4g} per km[/bold]: places within "
        f"{radius['radius_km'] * 1000:.0f} m of each other stay apart by at most a factor of "
        f"{radius['factor']:g}"
    )
    if "universal" in answer:
        _show_errors(answer)
    for sentence in answer["assumptions"]:
        console.print(f"[dim]{sentence}[/dim]")


def _show_errors(answer: dict[str, Any]) -> None:
    table = Table("level", "drawn from", "per km", "error", "worst subtree", "any mechanism",
                  "no report", box=None, padding=(0, 1))  # fmt: skip
    judged = [("universal", one) for one in answer["universal"]]
    judged += [(one["file"], one) for one in answer["forests"]]
    for name, one in judged:
        if "impossible" in one:
            console.print(one["impossible"])
            continue
        lengths = ("mean_km", "worst_subtree_km", "any_mechanism_km", "without_a_report_km")
        metres = (f"{one[length] * 1000:.0f} m" for length in lengths)
        table.add_row(str(one["privacy_level"]), name, f"{one['epsilon_per_km']:.4g}", *metres)
    console.print(table)
    if answer["next_stricter_per_km"] is not None:
        offered = answer["next_stricter_per_km"]
        console.print(f"the map offers {offered:g} per km as the next stricter for the radius")
