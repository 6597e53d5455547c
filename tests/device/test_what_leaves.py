"""What leaves a device is the same, byte for byte, wherever the user is.

A real server on a socket, a wire-tap in front of it, and for one policy after the other a device
at every leaf of the map, each time with nothing in its cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from geocorgi.device.areas import ListedCells
from geocorgi.device.content_cache import ContentCache
from geocorgi.device.http_source import HttpSource
from geocorgi.device.network.address import ServerAddress
from geocorgi.device.network.door import network
from geocorgi.device.network.retries import Patience, persistent
from geocorgi.device.obfuscate import obfuscate
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import Preference
from geocorgi.device.preparation import Device
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import NotReported, PolicyNotMet
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.device.forests import SECRET, VERDICTS, Forgetful, made, quick_forest
from tests.device.http_published import over_http
from tests.device.network.recorder import Recorder, recording
from tests.device.published import Published
from tests.wire.maps import LEAVES, small_map

MAP = small_map()
HOME = ListedCells((LEAVES[9],))
MANY = ListedCells(LEAVES[:5])
POLICIES = {
    "nothing removed": Policy(1, 0),
    "home removed": Policy(1, 0, black_list=(HOME,)),
    "home removed, rows dropped": Policy(2, 1, black_list=(HOME,), rows="drop"),
    "decoys": Policy(1, 0, black_list=(HOME,), decoys=True),
    "more than is offered": Policy(1, 0, black_list=(MANY,)),
    "more than is offered, refused": Policy(1, 0, black_list=(MANY,), on_excess="refuse"),
    "a public filter": Policy(1, 0, (Preference("even", "=", True),)),
    "averaged": Policy(2, 1, black_list=(HOME,), precision="average"),
    "looks at the user": Policy(1, 0, (Preference("distance", "≤", 1.2, "km", origin="me"),)),
}


@pytest.fixture(scope="module")
def tap() -> Iterator[Recorder]:
    server = Published(MAP)
    for entry in MAP.catalogue:
        request = request_for(map_id(MAP), entry)
        server.publish(request, made(quick_forest, MAP, request))
    with over_http(server) as url, recording(url) as recorder:
        yield recorder


def outcome(tap: Recorder, cache: ContentCache, policy: Policy, leaf: str) -> str:
    """Play a device at a leaf; return how it ended."""
    memory = Forgetful()
    with network() as get:
        source = HttpSource(ServerAddress(tap.url), persistent(get, Patience()), cache)
        device = Device(source, source, memory, SECRET, verdicts=VERDICTS)
        try:
            obfuscate(Whereabouts(leaf), policy, device)
        except (NotReported, PolicyNotMet) as refusal:
            return type(refusal).__name__
    return "reported"


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_the_same_bytes_leave_on_every_connection_from_every_leaf(name, tap, tmp_path):
    require_the_same_bytes(name, LEAVES, tap, tmp_path)


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_bytes_leave_on_every_connection_from_some_leaves(name, tap, tmp_path):
    require_the_same_bytes(name, (*LEAVES[::12], LEAVES[9]), tap, tmp_path)


def require_the_same_bytes(name: str, leaves: Sequence[str], tap: Recorder, folder: Path) -> None:
    left, ends = set(), set()
    for number, leaf in enumerate(leaves):
        ends.add(outcome(tap, ContentCache(folder / str(number)), POLICIES[name], leaf))
        left.add(tap.taken())
    assert len(left) == 1
    (connections,) = left
    asked = b"".join(connections)
    assert b"GET /v1/map HTTP/1.1" in asked
    if ends != {"PolicyNotMet"}:  # refused for everybody, before anything is asked for
        assert asked.count(b"GET ") == 4
    if name == "home removed, rows dropped":
        assert ends == {"reported", "NotReported"}


def test_the_tap_would_notice(tap, tmp_path):
    """A request that follows the user is seen: nothing here is equal for lack of looking."""
    left = set()
    for number, level in enumerate((1, 2)):
        cache = ContentCache(tmp_path / str(number))
        outcome(tap, cache, Policy(level, 0), LEAVES[0])
        left.add(tap.taken())
    assert len(left) == 2


def test_with_a_cache_nothing_leaves_at_all(tap, tmp_path):
    cache = ContentCache(tmp_path)
    outcome(tap, cache, POLICIES["home removed"], LEAVES[0])
    tap.taken()
    for leaf in LEAVES:
        assert outcome(tap, cache, POLICIES["home removed"], leaf) == "reported"
    assert tap.taken() == ()


def test_a_refused_forest_is_refused_from_every_leaf_after_the_same_bytes(tmp_path):
    server = Published(MAP)
    request = request_for(map_id(MAP), MAP.catalogue[0])
    for entry in MAP.catalogue:
        asked = request_for(map_id(MAP), entry)
        server.publish(asked, forest_bytes(quick_forest(MAP, request)))
    with over_http(server) as url, recording(url) as tap:
        left = set()
        for number, leaf in enumerate(LEAVES[::8]):
            cache = ContentCache(tmp_path / str(number))
            with pytest.raises(Exception, match="is refused") as refusal:
                outcome(tap, cache, POLICIES["home removed"], leaf)
            left.add((tap.taken(), str(refusal.value)))
    assert len(left) == 1
