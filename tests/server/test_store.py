"""What is published is whole, verified whenever it is read, and set aside where it is damaged."""

from __future__ import annotations

import gzip
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.server import folder_shelf
from geocorgi.server.object_shelf import ObjectShelf
from geocorgi.server.shelf import parts_of
from geocorgi.server.store import Store, open_store
from geocorgi.wire.addresses import MAP_INDEX, map_address, pins_address
from geocorgi.wire.map_codec import encode_map
from tests.server.stores import CITY, ID, NAMES, PINS, REQUESTS, file_of, fill, forest
from tests.wire.maps import shard_map, small_map


@pytest.fixture(params=["folder", "memory", "file"])
def store(request, tmp_path) -> Store:
    """Lend a filled store of every kind."""
    if request.param == "folder":
        return fill(tmp_path)
    return fill("memory:///" if request.param == "memory" else tmp_path.as_uri())


def test_everything_published_is_found_again(store):
    (pin,) = store.index().maps
    assert pin.map_id == ID
    assert encode_map(store.public_map(ID)) == encode_map(CITY)
    for name, request in zip(NAMES, REQUESTS, strict=True):
        found = store.forest(store.pin(ID, name))
        assert found.content == gzip.decompress(found.compressed) == forest(request)
    assert [pin.request_id for pin in store.pins(ID).pins] == sorted(NAMES)


def test_what_was_never_published_is_not_found(store):
    assert store.public_map("0" * 64) is None
    assert store.pin(ID, "0" * 64) is None
    assert store.pins("0" * 64) is None


def test_a_new_version_of_the_map_leaves_the_old_one_where_it_is(store):
    store.publish_maps([small_map()])
    assert store.index().maps[0].map_id != ID
    assert store.public_map(ID) is not None
    assert store.forest(store.pin(ID, NAMES[0])) is not None


def test_shards_are_current_together(tmp_path):
    store = open_store(str(tmp_path))
    index = store.publish_maps([shard_map()])
    assert store.index() == index
    assert store.public_map(index.maps[0].map_id).shard == shard_map().shard


def test_the_pins_are_published_when_the_catalogue_is_whole(tmp_path):
    store = open_store(str(tmp_path))
    store.publish_maps([CITY])
    store.publish_forest(REQUESTS[0], forest(REQUESTS[0]))
    assert store.publish_pins(CITY) is None
    assert store.pins(ID) is None
    store.publish_forest(REQUESTS[1], forest(REQUESTS[1]))
    assert store.publish_pins(CITY) == store.pins(ID)


def test_publishing_again_changes_no_byte_and_no_file(tmp_path):
    fill(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    fill(tmp_path)
    assert before == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}


def damaged(path: Path, kind: str) -> None:
    good = path.read_bytes()
    middle = len(good) // 2
    bad = {
        "flipped": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "truncated": good[:-1],
        "emptied": b"",
        "grown": good + b"\0",
    }[kind]
    path.write_bytes(bad)


DAMAGE = pytest.mark.parametrize("kind", ["flipped", "truncated", "emptied", "grown"])


@DAMAGE
def test_a_damaged_forest_is_set_aside_with_its_pin(tmp_path, kind):
    store = fill(tmp_path)
    pin = store.pin(ID, NAMES[0])
    damaged(tmp_path / file_of(pin), kind)
    bad = (tmp_path / file_of(pin)).read_bytes()
    assert store.forest(pin) is None
    assert store.pin(ID, NAMES[0]) is None
    assert store.pin(ID, NAMES[1]) is not None
    assert bad in [path.read_bytes() for path in (tmp_path / "aside").glob("*.safetensors")]
    assert store.publish_forest(REQUESTS[0], forest(REQUESTS[0])) == pin
    assert store.forest(pin).content == forest(REQUESTS[0])


@DAMAGE
@pytest.mark.parametrize("address", [map_address(ID), PINS[0], pins_address(ID)])
def test_any_damaged_file_is_set_aside_and_never_believed(tmp_path, kind, address):
    store = fill(tmp_path)
    damaged(tmp_path / address, kind)
    read = {
        map_address(ID): lambda: store.public_map(ID),
        PINS[0]: lambda: store.pin(ID, NAMES[0]),
        pins_address(ID): lambda: store.pins(ID),
    }[address]
    good = fill_elsewhere(tmp_path, address)
    found = read()
    if found is None:
        assert len(list((tmp_path / "aside").iterdir())) == 1
        assert not (tmp_path / address).exists()
    else:  # one flipped bit may make another message of a small one: a pin of nothing
        assert kind == "flipped"
        assert (tmp_path / address).read_bytes() != good
    fill(tmp_path)
    assert (tmp_path / address).read_bytes() == good


@pytest.mark.parametrize("kind", ["truncated", "emptied", "grown"])
def test_a_damaged_index_is_no_missing_one(tmp_path, kind):
    store = fill(tmp_path)
    good = (tmp_path / MAP_INDEX).read_bytes()
    damaged(tmp_path / MAP_INDEX, kind)
    for _ in range(2):
        with pytest.raises(BadFile, match="the store's index is damaged"):
            store.index()
    fill(tmp_path)
    assert (tmp_path / MAP_INDEX).read_bytes() == good
    assert len(list((tmp_path / "aside").iterdir())) == 1


def fill_elsewhere(folder: Path, address: str) -> bytes:
    other = folder.with_name(f"{folder.name}-other")
    fill(other)
    return (other / address).read_bytes()


def test_a_pin_of_another_forest_is_set_aside(tmp_path):
    store = fill(tmp_path)
    (tmp_path / PINS[0]).write_bytes((tmp_path / PINS[1]).read_bytes())
    assert store.pin(ID, NAMES[0]) is None
    assert not (tmp_path / PINS[0]).exists()


@pytest.mark.parametrize(
    "found", [None, b"", b"\x1f\x8b", gzip.compress(b"0" * 10_000_000, mtime=0)]
)
def test_a_compressed_sibling_that_is_not_the_same_is_made_again(tmp_path, found):
    store = fill(tmp_path)
    path = tmp_path / f"{map_address(ID)}.gz"
    path.unlink() if found is None else path.write_bytes(found)
    assert gzip.decompress(store.map_file(ID).compressed) == encode_map(CITY)
    assert gzip.decompress(path.read_bytes()) == encode_map(CITY)


def test_a_file_is_never_read_beyond_what_it_may_hold(tmp_path):
    shelf = folder_shelf.FolderShelf(tmp_path)
    shelf.write("a/b", b"0" * 1_000)
    assert shelf.read("a/b", 10) == b"0" * 11
    objects = ObjectShelf(tmp_path.as_uri())
    assert objects.read("a/b", 10) == b"0" * 11
    assert objects.read("a/b", 1_000) == b"0" * 1_000


@pytest.mark.parametrize("address", ["", "/", "a//b", "../a", "a/../b", "./a", "a/", "a\\b", "c:a"])
def test_no_address_leads_out_of_the_store(address):
    with pytest.raises(InvalidInput):
        parts_of(address)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.text(max_size=30))
def test_whatever_is_read_or_written_lies_inside_the_store(tmp_path, address):
    shelf = folder_shelf.FolderShelf(tmp_path / "store")
    with suppress(InvalidInput, BadFile):
        shelf.write(address, b"x")
    assert {path.name for path in tmp_path.iterdir()} == {"store"}


def test_what_killed_writers_left_is_swept_after_an_hour(tmp_path):
    fill(tmp_path)
    old, new = tmp_path / "v1" / ".map.abc", tmp_path / "v1" / ".map.def"
    for path in (old, new):
        path.write_bytes(b"half")
    hour = time.time() - 2 * folder_shelf.STALE_SECONDS
    os.utime(old, (hour, hour))
    open_store(str(tmp_path))
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize("where", ["nowhere://bucket", "file:///no/such/folder/there"])
def test_a_store_that_is_none_is_refused_in_one_sentence(where):
    with pytest.raises(InvalidInput, match="a store is a folder, or a URL"):
        open_store(where)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="as a store"):
        open_store(str(tmp_path / "file" / "store"))
