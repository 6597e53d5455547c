"""The only door to Dask: a cluster's own executor.

What travels is public: the map's priors to the workers, sealed matrices back. A scheduler that
loses a worker gives its task to another one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from geocorgi.errors import GenerationFailed, InvalidInput, MissingExtra

try:
    from distributed import Client
except ModuleNotFoundError as missing:
    if missing.name not in {"dask", "distributed"}:
        raise
    raise MissingExtra(
        f"a cluster needs {missing.name}: pip install 'geocorgi[cluster]'"
    ) from missing

SECONDS_TO_ANSWER = 10


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """Lend the executor of the Dask cluster whose scheduler listens at the address."""
    require_safe(address)
    try:
        client: Any = Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as refusal:
        raise GenerationFailed(f"no scheduler answers at {address}") from refusal
    with client:
        yield client.get_executor(pure=False)


def require_safe(address: str) -> str:
    """Return the address if it is one of this machine or encrypted, or refuse it."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme != "tls" and not (parts.scheme == "tcp" and _is_loopback(parts.hostname)):
        raise InvalidInput(
            "a cluster's address is tls://HOST:PORT, or tcp://127.0.0.1:PORT on this machine"
        )
    return address


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
