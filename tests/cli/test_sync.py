"""``geocorgi sync`` over a real socket."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import uniform_priors
from geocorgi.wire import addresses
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap
from tests.cli.command import said
from tests.device.forests import quick_forest
from tests.device.http_published import over_http
from tests.device.published import Published, building, request_id
from tests.wire.maps import small_map

ENTRIES = (CatalogueEntry(1, None, 0, "keep", 5.0), CatalogueEntry(1, None, 2, "keep", 5.0))
MAP = replace(small_map(), catalogue=ENTRIES)
NEWER = replace(MAP, attributes={"popular_18": np.ones(49)})
REQUESTS = [request_for(map_id(MAP), entry) for entry in ENTRIES]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOCORGI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("GEOCORGI_SERVER", raising=False)


def published(*maps: PublicMap) -> Published:
    server = Published(*maps)
    for public_map in maps:
        for entry in public_map.catalogue:
            request = request_for(map_id(public_map), entry)
            server.publish(request, forest_bytes(quick_forest(public_map, request)))
    return server


def synced(capsys, url, *words, code=0):
    found = said(capsys, "sync", "--server", url, "--json", *words)
    assert found.code == code, found.err
    return json.loads(found.out)["maps"]


def test_everything_is_fetched_once_and_its_digest_is_that_of_the_published_pins(capsys):
    server = published(MAP)
    pins = {str(n): server.publish(request, forest_bytes(quick_forest(MAP, request)))
            for n, request in enumerate(REQUESTS)}  # fmt: skip
    with over_http(server) as url:
        (first,) = synced(capsys, url)
        asked = len(server.asked)
        (second,) = synced(capsys, url)
    assert first == second
    assert first["forests"] == first["entries"] == 2
    assert first["pins_sha256"] == server.publish_pins(pins)
    assert server.asked[asked:] == [addresses.MAP_INDEX]


def test_it_is_said_in_words_too(capsys):
    with over_http(published(MAP)) as url:
        found = said(capsys, "sync", "--server", url)
    assert "2 of 2 forests at hand and checked" in found.out
    assert map_id(MAP) in found.out
    assert "forests at hand: 2 of 2" in found.err


def test_only_the_levels_named_are_fetched(capsys):
    server = published(MAP)
    with over_http(server) as url:
        assert synced(capsys, url, "--level", "2")[0]["entries"] == 0


def test_building_is_waited_for_and_said(capsys, monkeypatch):
    monkeypatch.setattr("geocorgi.device.network.retries.time.sleep", lambda _: None)
    server = published(MAP)
    where = addresses.pin_address(map_id(MAP), request_id(REQUESTS[0]))
    server.first[where] = [building(3)]
    with over_http(server) as url:
        found = said(capsys, "sync", "--server", url)
    assert "3 of 7 subtrees are built" in found.err
    assert found.code == 0


def test_a_hostile_forest_is_named_and_the_others_are_fetched(capsys):
    server = published(MAP)
    honest = quick_forest(MAP, REQUESTS[1])
    server.publish(REQUESTS[0], forest_bytes(honest))  # it answers another request
    with over_http(server) as url:
        (found,) = synced(capsys, url, code=1)
    assert found["forests"] == 1
    assert found["pins_sha256"] is None
    (sentence,) = found["refused"]
    assert sentence.startswith("level 1, delta 0, rows keep, 5 per km: ")


def test_what_is_not_published_is_counted(capsys):
    server = published(MAP)
    del server.files[addresses.pin_address(map_id(MAP), request_id(REQUESTS[0]))]
    with over_http(server) as url:
        (found,) = synced(capsys, url)
    assert (found["forests"], found["not_offered"]) == (1, 1)


def test_another_map_is_said_and_taken_only_when_asked_for(capsys):
    server = published(MAP)
    with over_http(server) as url:
        synced(capsys, url)
        moved = published(NEWER)
        server.files |= moved.files  # the index among them
        found = said(capsys, "sync", "--server", url)
        assert "offers another map" in found.err
        assert map_id(MAP) in found.out
        assert synced(capsys, url, "--new-map")[0]["map_id"] == map_id(NEWER)
        assert synced(capsys, url)[0]["map_id"] == map_id(NEWER)


def test_of_a_region_in_shards_all_maps_are_fetched(capsys):
    tree = LocationTree("872830829ffffff", 2)
    there = PublicMap(
        roots=(tree.root,),
        height=2,
        priors=uniform_priors(tree.leaves),
        settings=MAP.settings,
        catalogue=ENTRIES,
    )
    with over_http(published(MAP, there)) as url:
        found = synced(capsys, url)
        assert [one["map_id"] for one in found] == [map_id(MAP), map_id(there)]
        assert all(one["forests"] == 2 for one in found)
        assert len(synced(capsys, url, "--map-id", map_id(there))) == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "name the server"),
        (["--server", "http://geo.example/"], "--plain-http geo.example"),
        (["--server", "http://127.0.0.1:1/", "--map-id", "abc"], "--map-id is 64 hexadecimal"),
        (["--server", "http://127.0.0.1:1/", "--pins", "a" * 64], "name it with --map-id"),
        (["--server", "http://127.0.0.1:1/", "--proxy", "tor"], "a proxy is like"),
    ],
)
def test_a_wrong_word_is_one_sentence(capsys, words, why):
    found = said(capsys, "sync", *words)
    assert found.code == 2
    assert why in " ".join(found.err.split())


def test_nobody_there_is_one_sentence_after_a_few_attempts(capsys, monkeypatch):
    monkeypatch.setattr("geocorgi.device.network.retries.time.sleep", lambda _: None)
    found = said(capsys, "sync", "--server", "http://127.0.0.1:1/")
    assert found.code == 2
    assert found.err.endswith("geocorgi: the server cannot be reached\n")
