"""Both sides as they are: the operator's command in its process, the user's, a tap on every wire.

What leaves the device, to the server and to a source of attributes, is the same bytes on every
connection wherever the user is.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from geocorgi.server.store import open_store
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.cli.command import said
from tests.device.forests import made, quick_forest
from tests.device.network.loopback import answer, serving
from tests.device.network.recorder import Recorder, recording
from tests.server.running import Running, running
from tests.wire.maps import LEAVES, small_map

MAP = small_map()
STORM = LEAVES[9]
WEATHER = answer(json.dumps(dict.fromkeys(LEAVES, "sun") | {STORM: "storm"}).encode())
POLICY = """
privacy_level = 1
preferences = ['weather ≠ "storm"']
rows = "{rows}"

[source.weather]
kind = "category"
url = "{url}cells?roots={{roots}}"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Running]:
    store = tmp_path_factory.mktemp("server") / "published"
    filled = open_store(str(store))
    filled.publish_maps([MAP])
    for entry in MAP.catalogue:
        request = request_for(map_id(MAP), entry)
        filled.publish_forest(request, made(quick_forest, MAP, request))
    with running(store) as found:
        yield found


@pytest.fixture(scope="module")
def taps(server) -> Iterator[tuple[Recorder, Recorder]]:
    with (
        recording(f"http://127.0.0.1:{server.port}/") as to_server,
        serving(WEATHER) as source,
        recording(source.url) as to_source,
    ):
        yield to_server, to_source


class Played:
    """What left while a device played at some leaves, and how each play ended."""

    def __init__(self) -> None:
        self.left: set[tuple[tuple[bytes, ...], ...]] = set()
        self.ends: list[tuple[int, str]] = []


def played(leaves: Sequence[str], rows: str, taps, folder: Path, monkeypatch, capsys) -> Played:
    """Run the user's command at every leaf, each time on a device that knows nothing yet."""
    to_server, to_source = taps
    policy = folder / "policy.toml"
    policy.write_text(POLICY.format(rows=rows, url=to_source.url), encoding="utf-8")
    found = Played()
    for number, leaf in enumerate(leaves):
        for variable in ("GEOCORGI_DATA", "GEOCORGI_CACHE"):
            monkeypatch.setenv(variable, str(folder / f"{number}-{variable}"))
        monkeypatch.setattr("sys.stdin", io.StringIO(leaf))
        done = said(capsys, "report", "--server", to_server.url, "--policy", policy, "--json")
        found.ends.append((done.code, done.out or done.err))
        found.left.add((to_server.taken(), to_source.taken()))
    return found


def require_one(found: Played) -> None:
    ((to_server, to_source),) = found.left
    asked, known = b"".join(to_server), b"".join(to_source)
    assert asked.count(b"GET ") == 4
    assert known.count(b"GET ") == 1
    for leaf in LEAVES:
        assert leaf.encode() not in asked + known


@pytest.mark.parametrize("rows", ["keep", "drop"])
def test_the_same_bytes_leave_on_every_wire_from_some_leaves(
    rows, taps, tmp_path, monkeypatch, capsys
):
    found = played((*LEAVES[::16], STORM), rows, taps, tmp_path, monkeypatch, capsys)
    require_one(found)
    codes = [code for code, _ in found.ends]
    assert codes[:-1] == [0] * (len(codes) - 1), found.ends
    assert codes[-1] == (0 if rows == "keep" else 2), found.ends
    for code, printed in found.ends:
        assert code or json.loads(printed)["report"]["cell"] != STORM


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["keep", "drop"])
def test_the_same_bytes_leave_on_every_wire_from_every_leaf(
    rows, taps, tmp_path, monkeypatch, capsys
):
    require_one(played(LEAVES, rows, taps, tmp_path, monkeypatch, capsys))


def test_the_server_has_noted_nothing_of_it(server, taps, tmp_path, monkeypatch, capsys):
    played(LEAVES[:1], "keep", taps, tmp_path, monkeypatch, capsys)
    noted = "".join(server.said)
    assert noted.count("\n") == 1
    assert "ready" in noted
