"""``--server`` and what belongs to it: the same for every word that asks a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from geocorgi.cli.waiting import Waiting
from geocorgi.device.content_cache import ContentCache, usual_folder
from geocorgi.device.http_source import HttpSource, Shipped
from geocorgi.device.network.address import ServerAddress
from geocorgi.device.network.exchange import Get, not_asked
from geocorgi.device.network.proxy import proxy_for
from geocorgi.device.network.retries import Patience, persistent
from geocorgi.errors import InvalidInput
from geocorgi.wire.forest_request import require_digest

ServerUrl = typer.Option(
    None, "--server", envvar="GEOCORGI_SERVER", help="The server, such as https://geo.example/."
)
MapId = typer.Option(None, "--map-id", help="Believe only the map of this digest.")
PinsDigest = typer.Option(
    None, "--pins", help="Believe only forests that the pins.json of this digest names."
)
Proxy = typer.Option(
    None, envvar="GEOCORGI_PROXY", help="Go through here, such as socks5h://127.0.0.1:9050 (Tor)."
)
PlainHttp = typer.Option([], "--plain-http", help="Allow plain http to this host, by name.")
Offline = typer.Option(False, "--offline", help="Contact nobody: the cache is all there is.")


@dataclass(frozen=True, slots=True)
class ServerOption:
    """What a user said about the server to ask."""

    server: str | None
    map_id: str | None = None
    pins_sha256: str | None = None
    proxy: str | None = None
    plain_http: Sequence[str] = ()
    offline: bool = False

    def __post_init__(self) -> None:
        """Refuse digests that are none, or that fix nothing."""
        for digest, name in ((self.map_id, "--map-id"), (self.pins_sha256, "--pins")):
            if digest is not None:
                require_digest(digest, name)
        if self.pins_sha256 is not None and self.map_id is None:
            raise InvalidInput("--pins are those of one map: name it with --map-id")

    @property
    def address(self) -> ServerAddress:
        """Where the server is."""
        if self.server is None:
            raise InvalidInput("name the server: --server https://geo.example/ or GEOCORGI_SERVER")
        return ServerAddress(self.server, self.plain_http)


@contextmanager
def asked_server(option: ServerOption, waiting: Waiting) -> Iterator[HttpSource]:
    """Lend the server's maps and forests, with what is in the cache, and say what is waited for."""
    address, patience = option.address, Patience()
    with _asked(option, address) as get:
        yield HttpSource(
            address=address,
            get=get if option.offline else persistent(get, patience, waiting.trouble),
            cache=ContentCache(usual_folder()),
            shipped=Shipped(option.map_id, option.pins_sha256),
            patience=patience,
            on_progress=waiting.building,
        )


@contextmanager
def _asked(option: ServerOption, address: ServerAddress) -> Iterator[Get]:
    if option.offline:
        yield not_asked
        return
    from geocorgi.device.network.door import (  # noqa: PLC0415 - costs a third of a second
        network,
    )

    with network(proxy_for(address, option.proxy)) as get:
        yield get
