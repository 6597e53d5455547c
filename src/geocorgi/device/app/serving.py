"""Serving the page: on loopback, behind the guard, with a framework that is told to keep quiet.

NiceGUI as it comes allows any origin on its socket, lets a browser keep its files, and keeps state
in the working directory. None of that is so here (docs/adr/0007-the-page-is-nicegui.md).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from geocorgi.device.app.guard import OPENING, Guard
from geocorgi.errors import InvalidInput

TITLE = "geocorgi"
HOST = "127.0.0.1"
SECONDS_TO_STOP = 2
SECONDS_TO_COME_BACK = 30.0


def listening(port: int) -> socket.socket:
    """Return a socket that listens on loopback, or refuse."""
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as refusal:
        why = getattr(refusal, "strerror", None) or "no such port"
        raise InvalidInput(f"cannot listen on port {port} of {HOST}: {why}; try --port 0") from None


def host_of(listener: socket.socket) -> str:
    """Return what a browser calls the page's host."""
    return f"{HOST}:{listener.getsockname()[1]}"


def address_of(listener: socket.socket, key: str) -> str:
    """Return the address that opens the page, once."""
    return f"http://{host_of(listener)}{OPENING}?key={key}"


def serve(draw: Callable[[], None], listener: socket.socket, guard: dict[str, Any]) -> None:
    """Serve the page that ``draw`` draws until SIGINT or SIGTERM."""
    outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _tamed_framework(outer, draw, host_of(listener))
    config = uvicorn.Config(
        Guard(outer, host_of(listener), **guard), lifespan="on", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, timeout_graceful_shutdown=SECONDS_TO_STOP,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


def keep_framework_state_in(folder: Path) -> None:
    """Name the folder where the framework would keep state; it reads this when first imported."""
    os.environ["NICEGUI_STORAGE_PATH"] = str(folder)


def _tamed_framework(outer: FastAPI, draw: Callable[[], None], host: str) -> None:
    from nicegui import app, core, ui  # noqa: PLC0415 - after its folder was named

    core.sio.eio.cors_allowed_origins = [f"http://{host}"]
    app.config.socket_io_js_transports = ["websocket"]
    ui.page("/")(draw)
    ui.run_with(
        outer, title=TITLE, dark=None, tailwind=False, gzip_middleware_factory=None,
        cache_control_directives="no-store", show_welcome_message=False,
        reconnect_timeout=SECONDS_TO_COME_BACK, language="en-US",
    )  # fmt: skip
