"""Serving the page: on loopback, behind the guard, with a framework that is told to keep quiet.

NiceGUI as it comes allows any origin on its socket, lets a browser keep its files, and keeps state
in the working directory. None of that is so here (docs/adr/0007-the-page-is-nicegui.md).
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

from geocorgi.device.app.guard import Guard
from geocorgi.device.app.listening import host_of

TITLE = "geocorgi"
SECONDS_TO_STOP = 2
SECONDS_TO_COME_BACK = 30.0


def serve(draw: Callable[[], None], listener: socket.socket, guard: dict[str, Any]) -> None:
    """Serve the page that ``draw`` draws until SIGINT or SIGTERM."""
    outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _tamed_framework(outer, draw, host_of(listener))
    config = uvicorn.Config(
        Guard(outer, host_of(listener), **guard), lifespan="on", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, timeout_graceful_shutdown=SECONDS_TO_STOP,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


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
