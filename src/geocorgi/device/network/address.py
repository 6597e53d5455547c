"""Where a server is: https, or plain http to this very machine or to hosts allowed by name."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from geocorgi.errors import InvalidInput

LONGEST_ADDRESS = 2_000


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The base that all of a server's addresses begin with; it ends in a slash."""

    base: str
    plain_http_to: Collection[str] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse an address that anybody on the way could read, or that says who is asking."""
        object.__setattr__(self, "base", _require_base(self.base, self.plain_http_to))

    @property
    def host(self) -> str:
        """The name or number of the machine."""
        return urlsplit(self.base).hostname or ""

    def below(self, path: str) -> str:
        """Return the address of what lies under a path, such as ``v1/map``."""
        return self.base + path


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its name alone: nobody is asked."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _require_base(base: str, plain_http_to: Collection[str]) -> str:
    wanted = "a server's address is like https://geo.example/"
    if not (0 < len(base) <= LONGEST_ADDRESS and base.isascii() and base.isprintable()):
        raise InvalidInput(f"{wanted}: plain letters, without blanks")
    try:
        parts = urlsplit(base)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(f"{wanted}; this one has no valid host or port") from None
    if parts.scheme not in {"http", "https"} or not host or " " in base:
        raise InvalidInput(f"{wanted}: a scheme, a host, perhaps a port and a path")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(f"{wanted}, without a user's name: it would say who is asking")
    if parts.query or parts.fragment or "?" in base or "#" in base:
        raise InvalidInput(f"{wanted}, without '?' and '#'")
    if parts.scheme == "http" and not is_loopback(host) and host not in plain_http_to:
        raise InvalidInput(
            f"plain http to {host} could be read and changed on the way: use https, or allow it "
            f"by name with --plain-http {host}"
        )
    return base if base.endswith("/") else f"{base}/"
