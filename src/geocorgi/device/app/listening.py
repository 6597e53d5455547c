"""Where the page listens: on loopback, and what a browser calls that."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from geocorgi.device.app.guard import OPENING
from geocorgi.errors import InvalidInput

HOST = "127.0.0.1"


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


def keep_framework_state_in(folder: Path) -> None:
    """Name the folder where the framework would keep state; it reads this when first imported."""
    os.environ["NICEGUI_STORAGE_PATH"] = str(folder)
