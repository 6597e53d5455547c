"""Through whom a device speaks: the proxy that was named, else the one of the environment.

A proxy that is set and does not work is an error: there is no way round it. Otherwise somebody who
relies on Tor would be seen the first time that Tor is down.
"""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from geocorgi.device.network.address import ServerAddress, is_loopback
from geocorgi.errors import InvalidInput

SCHEMES = ("http", "https", "socks5", "socks5h")


def proxy_for(address: ServerAddress, named: str | None = None) -> str | None:
    """Return the proxy to this server, None for a direct connection.

    ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` (or the system's settings) mean
    what they mean elsewhere; this machine is reached directly unless a proxy is named. With both
    ``socks5`` and ``socks5h`` it is the proxy who looks up the server's name.
    """
    if named is not None:
        return require_proxy(named)
    host = address.host
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    found = proxies.get(urlsplit(address.base).scheme) or proxies.get("all")
    return None if found is None else require_proxy(found)


def require_proxy(proxy: str) -> str:
    """Return a proxy's address, or refuse it without repeating it: it may hold a password."""
    try:
        parts = urlsplit(proxy.replace("socks://", "socks5://", 1))
        usable = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput("a proxy is like socks5h://127.0.0.1:9050 or http://proxy.example:3128")
    return parts.geturl()
