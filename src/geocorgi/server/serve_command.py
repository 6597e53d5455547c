"""``geocorgi-server serve``: the service."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import typer

from geocorgi.server.publishing import published_maps
from geocorgi.server.serving import Listening, log_to_standard_error, serve
from geocorgi.server.state_folder import default_store, locked, state_for
from geocorgi.server.store import open_store
from geocorgi.terminal import messages


def serve_command(
    store: str = typer.Option(
        default_store(), help="Serve this folder, or object store by URL.", show_default=False
    ),
    map_files: list[Path] = typer.Option(
        [], "--map", help="Publish this map first; one for each shard."
    ),
    state: Path | None = typer.Option(
        None, help="Keep the queue and unfinished forests here; else beside the store."
    ),
    host: str = typer.Option("127.0.0.1", help="Listen at this address."),
    port: int = typer.Option(8321, min=0, max=65_535, help="Listen here; 0: any free port."),
    most_connections: int = typer.Option(1_000, min=2, help="Refuse more at once."),
) -> None:
    """Serve maps and forests, and build what is asked for and missing.

    Without arguments it serves, to this machine alone, the map of a made-up city. The folder can be
    served by any file server instead, once precompute has filled it. SIGTERM and Ctrl-C stop in
    good order; what is killed in the middle goes on where it was.

    Example: [bold]geocorgi-server serve --map map.json --store published[/bold]
    """
    log_to_standard_error()
    if not _is_loopback(host):
        messages.print(
            "plain http off this machine: put TLS in front (docs/how-to/run-a-server.md)"
        )
    folder = state_for(store, state)
    with locked(folder):
        opened = open_store(store)
        published_maps(opened, map_files)
        serve(opened, folder, Listening(host, port, most_connections))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
