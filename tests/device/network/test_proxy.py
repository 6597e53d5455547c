"""Through whom a device speaks."""

from __future__ import annotations

import pytest

from geocorgi.device.network.address import ServerAddress
from geocorgi.device.network.proxy import proxy_for
from geocorgi.errors import InvalidInput

ELSEWHERE = ServerAddress("https://geo.example/")
HERE = ServerAddress("http://127.0.0.1:8000/")
TOR = "socks5h://127.0.0.1:9050"


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_without_a_word_the_connection_is_direct():
    assert proxy_for(ELSEWHERE) is None


def test_a_named_proxy_is_used_wherever_the_server_is():
    assert proxy_for(ELSEWHERE, TOR) == TOR
    assert proxy_for(HERE, TOR) == TOR


def test_the_environments_proxy_is_used_but_not_to_this_machine(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", TOR)
    assert proxy_for(ELSEWHERE) == TOR
    assert proxy_for(HERE) is None


def test_the_proxy_for_the_scheme_comes_first(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", TOR)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert proxy_for(ELSEWHERE) == "http://proxy.example:3128"


def test_no_proxy_names_who_is_reached_directly(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", TOR)
    monkeypatch.setenv("NO_PROXY", "geo.example")
    assert proxy_for(ELSEWHERE) is None


@pytest.mark.parametrize("proxy", ["tor", "ftp://proxy.example", "http://", "http://h:port"])
def test_what_is_no_proxy_is_refused_not_passed_by(proxy, monkeypatch):
    with pytest.raises(InvalidInput, match="a proxy is like"):
        proxy_for(ELSEWHERE, proxy)
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(InvalidInput, match="a proxy is like"):
        proxy_for(ELSEWHERE)
