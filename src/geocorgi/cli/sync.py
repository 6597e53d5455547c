"""``geocorgi sync``: everything that a server offers, fetched and checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import typer
from rich.markup import escape

from geocorgi.cli.server_option import (
    MapId,
    PinsDigest,
    PlainHttp,
    Proxy,
    ServerOption,
    ServerUrl,
    asked_server,
)
from geocorgi.cli.waiting import Waiting
from geocorgi.device.acceptance import accept
from geocorgi.device.data_folder import data_folder
from geocorgi.device.http_source import HttpSource, Shipped
from geocorgi.device.secret import device_secret
from geocorgi.device.sync import Synced, sync
from geocorgi.device.verdicts import Verdicts
from geocorgi.errors import FetchFailed
from geocorgi.terminal import DOES_NOT_HOLD, console, messages, print_json
from geocorgi.wire.forest_request import ForestRequest
from geocorgi.wire.map_codec import decode_map
from geocorgi.wire.map_index import MapPin

Level = typer.Option([], "--level", help="Fetch only this privacy level; repeat it for several.")
NewMap = typer.Option(False, "--new-map", help="Go over to the map that the server offers now.")
Json = typer.Option(False, "--json", help="Print one JSON object.")


def sync_command(
    server: str | None = ServerUrl,
    level: list[int] = Level,
    new_map: bool = NewMap,
    map_id: str | None = MapId,
    pins: str | None = PinsDigest,
    proxy: str | None = Proxy,
    plain_http: list[str] = PlainHttp,
    as_json: bool = Json,
) -> None:
    """Fetch the map and the whole catalogue once, so that later reports contact nobody.

    Every forest is checked as it comes. What is in the cache already is not asked for again, and
    Ctrl-C keeps what has come. Of a region in several maps all are fetched: which of them is used
    later nobody learns. The digests that are shown are the same for everyone who was sent the
    same: compare them with somebody else's. Exit code 1 if something was refused.

    Example: [bold]geocorgi sync --server https://geo.example/ --level 2[/bold]
    """
    option = ServerOption(server, map_id, pins, proxy, plain_http)
    waiting = Waiting(as_json)
    with asked_server(option, waiting) as source:
        done = [_fetched(one, level, waiting) for one in _sources(source, waiting, new_map=new_map)]
    if as_json:
        print_json({"maps": [asdict(one) for one in done]})
    else:
        _show(done)
    if any(one.refused for one in done):
        raise typer.Exit(DOES_NOT_HOLD)


def _sources(source: HttpSource, waiting: Waiting, *, new_map: bool) -> list[HttpSource]:
    """Return a source for each map that is to be fetched, all of a region's shards among them."""
    known = source.remembered_map_id()
    if source.shipped.map_id is not None:
        return [source]
    offered = source.index().maps
    if len(offered) > 1:
        return [replace(source, shipped=Shipped(pin.map_id)) for pin in offered]
    _choose(source, offered[0], known, waiting, new_map=new_map)
    return [source]


def _choose(
    source: HttpSource, offered: MapPin, known: str | None, waiting: Waiting, *, new_map: bool
) -> None:
    if known is None or new_map:
        source.use_map(offered)
    elif known != offered.map_id:
        waiting.say(
            f"the server now offers another map, {offered.map_id}; the one in use stays in use: "
            "to go over to it, once you know that others see it too, say --new-map"
        )


def _fetched(source: HttpSource, levels: Sequence[int], waiting: Waiting) -> Synced:
    content = source.public_map()
    public_map = decode_map(content)
    entries = [
        entry for entry in public_map.catalogue if not levels or entry.privacy_level in levels
    ]
    folder = data_folder()
    verdicts = Verdicts(folder / "verdicts", device_secret(folder))

    def judge(forest: bytes, request: ForestRequest) -> None:
        accept(forest, public_map, request, verdicts)

    map_id = source.remembered_map_id() or ""
    try:
        return sync(source, map_id, entries, judge, waiting.counting("forests at hand:"))
    except (FetchFailed, KeyboardInterrupt):
        messages.print("what has come is kept: the same command goes on from there")
        raise


def _show(done: Sequence[Synced]) -> None:
    for one in done:
        console.print(f"map {one.map_id}")
        console.print(
            f"  {one.forests} of {one.entries} forests at hand and checked, {one.bytes:,} bytes"
        )
        if one.not_offered:
            console.print(f"  {one.not_offered} are not published yet")
        if one.pins_sha256:
            console.print(f"  pins {one.pins_sha256}")
        for sentence in one.refused:
            console.print(f"  [red]refused[/red]: {escape(sentence)}")
