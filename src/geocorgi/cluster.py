"""The only door to Dask: a cluster's own executor, for whichever side has work to give away.

It knows nothing of the work. On the operator's side what travels is public: the map's priors to the
workers, sealed matrices back. On the user's side tasks carry paths, never rows. A scheduler that
loses a worker gives its task to another one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from geocorgi.errors import InvalidInput, MissingExtra, Unreachable

try:
    from distributed import Client
    from distributed.security import Security
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
    _require_certificates(require_safe(address))
    try:
        client: Any = Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as refusal:
        raise Unreachable(f"no scheduler answers at {address}") from refusal
    with client:
        yield client.get_executor(pure=False)


def require_safe(address: str) -> str:
    """Return the address if it is one of this machine or encrypted, or refuse it."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        named = parts.hostname is not None and parts.port is not None
    except ValueError:  # a port that is none
        named = False
    if not named or (parts.scheme != "tls" and not _is_local(parts.scheme, parts.hostname)):
        raise InvalidInput(
            "a cluster's address is tls://HOST:PORT, or tcp://127.0.0.1:PORT on this machine"
        )
    return address


def _require_certificates(address: str) -> None:
    if address.startswith("tls:"):
        named = Security().get_tls_config_for_role("client")  # type: ignore[no-untyped-call]
        if not (named["ca_file"] and named["cert"]):
            raise InvalidInput(
                "a cluster at tls:// needs certificates: name them in Dask's own configuration "
                "(distributed.comm.tls.ca-file and distributed.comm.tls.client)"
            )


def _is_local(scheme: str, host: str | None) -> bool:
    try:
        local = host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        local = False
    return scheme == "tcp" and local
