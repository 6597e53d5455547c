"""Addresses are made of digests alone, so that no name can lead anywhere else."""

from __future__ import annotations

import pytest

from geocorgi.errors import InvalidMessage
from geocorgi.wire import addresses

A, B, C = "a" * 64, "b" * 64, "c" * 64


def test_the_addresses_are_those_of_the_page():
    assert addresses.MAP_INDEX == "v1/map"
    assert addresses.map_address(A) == f"v1/maps/{A}/map.json"
    assert addresses.pins_address(A) == f"v1/maps/{A}/pins.json"
    assert addresses.pin_address(A, B) == f"v1/maps/{A}/forests/{B}/pin.json"
    assert addresses.forest_address(A, B, C) == f"v1/maps/{A}/forests/{B}/{C}.safetensors"


@pytest.mark.parametrize("name", ["", "..", "../" * 21 + "x", "A" * 64, "a" * 63, "a" * 65, "%2e"])
def test_a_name_that_is_no_digest_is_refused(name):
    with pytest.raises(InvalidMessage):
        addresses.map_address(name)
    with pytest.raises(InvalidMessage):
        addresses.forest_address(A, B, name)
