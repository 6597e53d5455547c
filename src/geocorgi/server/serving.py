"""Running the service until it is told to stop."""

from __future__ import annotations

import logging
import os
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from geocorgi.errors import InvalidInput
from geocorgi.server.app import new_app
from geocorgi.server.guarded_protocol import GuardedProtocol
from geocorgi.server.seldom import Seldom
from geocorgi.server.sending import AtOnce
from geocorgi.server.service import Service
from geocorgi.server.store import Store

SECONDS_KEPT_ALIVE = 15
SECONDS_TO_STOP = 10
log = logging.getLogger("geocorgi.server")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen, and for how many connections at once."""

    host: str = "127.0.0.1"
    port: int = 8321
    most_connections: int = 1_000


def serve(store: Store, state: Path, listening: Listening) -> None:
    """Serve until SIGINT or SIGTERM; answers that are under way are finished first."""
    with listening_socket(listening) as listener:
        service = Service(store, state)
        service.prepare()
        server = new_server(service, listener, listening.most_connections)
        # Uvicorn stops in good order and then raises the signal again; stopping was all it asked.
        signal.signal(signal.SIGTERM, lambda *_: None)
        server.run(sockets=[listener])
    if not server.started:
        raise InvalidInput("the service could not start: the reason stands above")
    log.info("stopped")


def new_server(service: Service, listener: socket.socket, most_connections: int) -> uvicorn.Server:
    """Return uvicorn over the service, with every bound set and nothing logged about who asks."""
    host, port = listener.getsockname()[:2]
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    routes = new_app(service, lambda: log.info("ready: %s", where))
    app = AtOnce(routes, service.at_hand, service.metrics)
    config = uvicorn.Config(
        app, http=GuardedProtocol, ws="none", lifespan="on", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, limit_concurrency=most_connections,
        timeout_keep_alive=SECONDS_KEPT_ALIVE, timeout_graceful_shutdown=SECONDS_TO_STOP,
    )  # fmt: skip
    return uvicorn.Server(config)


def log_to_standard_error() -> None:
    """Log what the service does: never an address that asked, nor what it asked for."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(Seldom())


def listening_socket(listening: Listening) -> socket.socket:
    """Return a socket that listens there, or refuse."""
    try:
        family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
        return socket.create_server((listening.host, listening.port), family=family, backlog=2_048)
    except OSError as refusal:
        number = refusal.errno or 0
        why = os.strerror(number) if number > 0 else "no such address"
        raise InvalidInput(
            f"cannot listen on port {listening.port} of {listening.host}: {why}; try --port 0"
        ) from refusal
