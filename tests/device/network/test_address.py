"""Where a server may be."""

from __future__ import annotations

import pytest

from geocorgi.device.network.address import ServerAddress
from geocorgi.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("https://geo.example", "https://geo.example/"),
        ("https://geo.example:8443/corgi/", "https://geo.example:8443/corgi/"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("http://127.1.2.3", "http://127.1.2.3/"),
        ("http://[::1]:8000", "http://[::1]:8000/"),
        ("http://localhost:1", "http://localhost:1/"),
    ],
)
def test_https_and_this_machine_are_fine(given, base):
    address = ServerAddress(given)
    assert address.base == base
    assert address.below("v1/map") == f"{base}v1/map"


@pytest.mark.parametrize(
    "given",
    [
        "http://geo.example/",
        "http://127.0.0.1.geo.example/",
        "http://localhost.geo.example/",
        "http://0.0.0.0/",
        "http://192.168.0.7/",
        "http://[::]/",
    ],
)
def test_plain_http_elsewhere_is_refused_with_the_way_out(given):
    with pytest.raises(InvalidInput, match="--plain-http"):
        ServerAddress(given)


def test_plain_http_is_allowed_by_name_to_that_name_only():
    assert ServerAddress("http://abc.onion/", ["abc.onion"]).host == "abc.onion"
    with pytest.raises(InvalidInput, match="--plain-http"):
        ServerAddress("http://abd.onion/", ["abc.onion"])


@pytest.mark.parametrize(
    "given",
    [
        "",
        "geo.example",
        "ftp://geo.example/",
        "file:///etc/passwd",
        "https://",
        "https://geo.example:port/",
        "https://geo.example:99999/",
        "https://[::1/",
        "https://user@geo.example/",
        "https://user:secret@geo.example/",
        "https://geo.example/?who=me",
        "https://geo.example/?",
        "https://geo.example/#me",
        "https://geo.example/a b",
        "https://geo.example/\r\nCookie: me",
        "https://géo.example/",
        "https://geo.example/" + "a" * 3000,
    ],
)
def test_what_is_no_address_or_says_who_asks_is_refused(given):
    with pytest.raises(InvalidInput) as refusal:
        ServerAddress(given)
    assert "secret" not in str(refusal.value)
    assert "user@" not in str(refusal.value)
