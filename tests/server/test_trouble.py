"""Bad days of an operator: a full disk, a damaged index, a spoilt queue; each has a way out."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from geocorgi.errors import BadFile
from geocorgi.server import builds
from geocorgi.server.bundled_map import bundled_map
from geocorgi.server.folder_shelf import FolderShelf
from geocorgi.server.store import open_store
from geocorgi.wire.addresses import MAP_INDEX, map_address
from geocorgi.wire.forest_pin import decode_pin
from geocorgi.wire.forest_request import encode_request
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.map_index import decode_index
from geocorgi.wire.refusal import decode_refusal
from tests.server.running import map_file, running, running_here, started, wait_for
from tests.server.stores import CITY, ID, NAMES, PINS, REQUESTS, file_of, fill, forest


def refused(*words: object) -> str:
    """Return the one sentence that a server refuses to start with."""
    command = [sys.executable, "-m", "geocorgi.server.cli", "serve", "--port", "0"]
    done = subprocess.run(
        [*command, *(str(word) for word in words)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_a_damaged_index_is_refused_until_the_maps_are_published_again(tmp_path):
    """It never makes a store look new, for which the made-up city's map would be published."""
    fill(tmp_path / "store")
    (tmp_path / "store" / MAP_INDEX).write_bytes(b'{"maps":[]}')
    for _ in range(2):
        assert "index is damaged: publish its maps again" in refused("--store", tmp_path / "store")
    with running(tmp_path / "store", "--map", map_file(tmp_path, CITY)) as server:
        assert server.get(PINS[0]).status == 200
    assert len(list((tmp_path / "store" / "aside").iterdir())) == 1


def test_a_damaged_map_is_refused_until_it_is_published_again(tmp_path):
    fill(tmp_path / "store")
    (tmp_path / "store" / "v1" / "maps" / ID / "map.json").write_bytes(b"{}")
    for _ in range(2):
        assert "a map of the store" in refused("--store", tmp_path / "store")
    with running(tmp_path / "store", "--map", map_file(tmp_path, CITY)) as server:
        assert server.get(PINS[0]).status == 200


def test_what_is_no_request_is_swept_out_of_the_queue_and_the_rest_is_built(tmp_path):
    queue = tmp_path / "store.state" / "queue"
    queue.mkdir(parents=True)
    (queue / "000000000001-x.json").write_bytes(b"nonsense")
    (queue / "000000000002-y.json").write_bytes(b"0" * 1_000_000)
    (queue / "000000000003-folder.json").mkdir()
    (queue / f"000000000004-{NAMES[1]}.json").write_bytes(encode_request(REQUESTS[1]))
    with running(tmp_path / "store", "--map", map_file(tmp_path, CITY)) as server:
        wait_for(lambda: server.metric("geocorgi_build_seconds_count") == 1 or None)
        assert server.get(PINS[1]).status == 200
    assert [path.name for path in queue.iterdir()] == ["000000000003-folder.json"]


def test_a_forest_that_there_is_no_room_for_is_tried_again_later(tmp_path, monkeypatch):
    async def no_room(*_: object) -> None:
        tried.append(1)
        raise BadFile("cannot write it: No space left on device")

    tried: list[int] = []
    monkeypatch.setattr(builds, "run_build", no_room)
    open_store(str(tmp_path / "store")).publish_maps([CITY])
    with running_here(tmp_path / "store", tmp_path / "state") as server:
        assert server.get(PINS[0]).status == 202
        for _ in range(3):
            answer = server.until(PINS[0], 503)
            assert "cannot read or write its store" in decode_refusal(answer.content).reason
            assert int(answer.headers["retry-after"]) >= builds.SECONDS_OF_TROUBLE
        assert len(tried) == 1
        assert server.get("health").status == server.get(MAP_INDEX).status == 200
        monkeypatch.setattr(builds, "SECONDS_OF_TROUBLE", 0.0)
        assert server.get(PINS[0]).status == 202
        wait_for(lambda: len(tried) == 2 or None)


def test_a_build_that_cannot_write_says_so_and_keeps_its_place(tmp_path):
    """The real thing: the folder for finished subtrees is none."""
    open_store(str(tmp_path / "store")).publish_maps([CITY])
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "work").write_text("not a folder")
    with running_here(tmp_path / "store", tmp_path / "state") as server:
        assert server.get(PINS[0]).status == 202
        server.until(PINS[0], 503)
        assert server.metric("geocorgi_builds_failed_total") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", "999.1.1.1"), "cannot listen on port 0 of 999.1.1.1"),
        (("--map", "nowhere.json"), "nowhere.json"),
        (("--store", "nowhere://x"), "a store is a folder, or a URL"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(tmp_path, words, sentence):
    store = () if "--store" in words else ("--store", tmp_path / "store")
    assert sentence in refused(*store, "--state", tmp_path / "state", *words)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    said = refused("--store", tmp_path / "file" / "store", "--state", tmp_path / "state")
    assert "cannot use store as a store: Not a directory" in said


def test_a_store_that_only_can_be_read_is_served(tmp_path, monkeypatch):
    def read_only(*_: object) -> None:
        raise BadFile("cannot write it: Read-only file system")

    fill(tmp_path / "store")
    address = map_address(ID)
    (tmp_path / "store" / f"{address}.gz").unlink()
    monkeypatch.setattr(FolderShelf, "write", read_only)
    with running_here(tmp_path / "store", tmp_path / "state") as server:
        for asked in (MAP_INDEX, address, PINS[0]):
            assert server.get(asked).status == 200
        packed = server.get(address, accept_encoding="gzip")
        assert gzip.decompress(packed.content) == server.get(address).content


def test_two_servers_over_one_store_publish_the_same(tmp_path):
    """Each with a state of its own: twice the work, and no harm."""
    store = tmp_path / "store"
    words = ("--map", map_file(tmp_path, CITY), "--state")
    with (
        running(store, *words, tmp_path / "one") as one,
        running(store, *words, tmp_path / "two") as two,
    ):
        assert [server.get(PINS[0]).status for server in (one, two)] == [202, 202]
        pins = [server.until(PINS[0]).content for server in (one, two)]
        assert pins[0] == pins[1]
        assert one.get(file_of(decode_pin(pins[0]))).content == forest(REQUESTS[0])
    assert not (store / "aside").exists()


def test_without_a_word_it_serves_the_made_up_city_from_a_folder_of_the_users(tmp_path):
    """Only the port is named, since several of these may run at once."""
    homes = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    command = [sys.executable, "-m", "geocorgi.server.cli", "serve", "--port", "0"]
    with started([*command], **homes) as server:
        (pin,) = decode_index(server.get(MAP_INDEX).content).maps
        assert pin.map_id == map_id(bundled_map())
    assert (tmp_path / "data" / "geocorgi-server" / "published" / MAP_INDEX).exists()
