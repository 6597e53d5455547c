"""``geocorgi-server precompute``: the whole catalogue, as files that any file server can serve."""

from __future__ import annotations

import time
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import typer

from geocorgi.errors import SubtreeFailed
from geocorgi.server.build import executor_for
from geocorgi.server.precompute import EntryDone, Means, precompute
from geocorgi.server.publishing import published_maps
from geocorgi.server.state_folder import default_store, state_for
from geocorgi.server.store import Store, open_store
from geocorgi.server.words import said
from geocorgi.terminal import INTERRUPTED, console, messages, print_json
from geocorgi.wire.canonical import digest
from geocorgi.wire.forest_pin import ForestPin, encode_pins
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap


def precompute_command(
    store: str = typer.Option(
        default_store(), help="Fill this folder, or object store by URL.", show_default=False
    ),
    map_files: list[Path] = typer.Option(
        [], "--map", help="Publish this map first; one for each shard."
    ),
    state: Path | None = typer.Option(
        None, help="Keep unfinished forests here; else beside the store."
    ),
    cluster: str | None = typer.Option(None, help="Run on the Dask scheduler at this address."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Build and publish every forest that the maps offer, and verify those that are there.

    Ctrl-C, or a crash, keeps what is finished, down to the subtree: the same command goes on from
    there. It prints what the publisher of an app pins: the map's name and the digest of all pins.

    Example: [bold]geocorgi-server precompute --map map.json --store published[/bold]
    """
    opened = open_store(store)
    maps = published_maps(opened, map_files)
    work_folder = state_for(store, state) / "work"
    try:
        answers = [_filled(opened, one, work_folder, cluster) for one in maps]
    except KeyboardInterrupt:
        messages.print("interrupted; what is finished is kept: run the same command again")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        print_json({"maps": answers})
    else:
        _show(answers)
    failed = sum(len(answer["failed"]) for answer in answers)
    if failed:
        raise SubtreeFailed(f"{failed} forests could not be built; the reasons stand above")


def _executor(
    public_map: PublicMap, cluster: str | None
) -> AbstractContextManager[Executor | None]:
    if cluster is None:
        return executor_for(len(public_map.leaves))
    from geocorgi.cluster import cluster_executor  # noqa: PLC0415 - only if asked for

    return cluster_executor(cluster)


def _filled(
    store: Store, public_map: PublicMap, work_folder: Path, cluster: str | None
) -> dict[str, Any]:
    """Fill the store with a map's catalogue, saying how far it is."""
    states, start = [], time.monotonic()
    with _executor(public_map, cluster) as executor:
        for state in precompute(store, public_map, Means(work_folder, executor)):
            _tell(state, time.monotonic() - start)
            states.append(state)
    forests = [_forest(state, state.pin) for state in states if state.pin is not None]
    missing = [state for state in states if state.pin is None]
    name = map_id(public_map)
    pins = store.pins(name)
    return {
        "map_id": name,
        "entries": len(public_map.catalogue),
        "built": sum(not forest["reused"] for forest in forests),
        "failed": [{"entry": said(one.request), "reason": one.failure} for one in missing],
        "bytes": sum(forest["bytes"] for forest in forests),
        "seconds": time.monotonic() - start,
        "pins_sha256": None if pins is None else digest(encode_pins(pins)),
        "forests": forests,
    }


def _forest(state: EntryDone, pin: ForestPin) -> dict[str, Any]:
    """Return what one forest is, takes and took."""
    request = state.request
    return {
        "privacy_level": request.privacy_level,
        "filter": request.filter,
        "delta": request.delta,
        "rows": request.rows.value,
        "epsilon_per_km": request.epsilon_per_km,
        "bytes": pin.bytes,
        "seconds": state.seconds,
        "reused": state.reused,
    }


def _tell(state: EntryDone, seconds: float) -> None:
    outcome = f"not built: {state.failure}" if state.pin is None else f"{state.pin.bytes:,} bytes"
    if state.reused:
        outcome += ", was there"
    where = f"{state.done} of {state.entries}, {seconds:.0f} s"
    messages.print(f"{where}: {said(state.request)}: {outcome}")


def _show(answers: list[dict[str, Any]]) -> None:
    for answer in answers:
        console.print(
            f"{answer['entries']} forests, {answer['built']} built now; {answer['bytes']:,} bytes"
        )
        console.print(f"map   {answer['map_id']}")
        console.print(f"pins  {answer['pins_sha256'] or 'not all forests are there'}")
