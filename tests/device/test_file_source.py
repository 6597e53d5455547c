"""Maps and forests from files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocorgi.device.acceptance import accept
from geocorgi.device.file_source import ForestFiles, MapFile
from geocorgi.errors import BadFile, ForestRefused, NotOffered
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import encode_map, map_id
from tests.device.forests import made, quick_forest
from tests.wire.maps import small_map

MAP = small_map()
REQUEST = request_for(map_id(MAP), CatalogueEntry(1, None, 2, Rows.KEEP, 5.0))
OTHER = request_for(map_id(MAP), CatalogueEntry(2, "even", 0, Rows.DROP, 15.0))


def test_a_map_is_its_files_bytes(tmp_path):
    (tmp_path / "map.json").write_bytes(encode_map(MAP))
    assert MapFile(tmp_path / "map.json").public_map() == encode_map(MAP)
    with pytest.raises(BadFile, match="cannot read none"):
        MapFile(tmp_path / "none").public_map()


def test_a_folders_forests_are_found_by_what_they_say(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "one.safetensors").write_bytes(made(quick_forest, MAP, REQUEST))
    (tmp_path / "two.safetensors").write_bytes(made(quick_forest, MAP, OTHER))
    for name, content in {"a": b"", "b": b"\xff" * 100, "c": b"\x02" + bytes(7) + b"{}"}.items():
        (tmp_path / f"{name}.safetensors").write_bytes(content)
    for request in (REQUEST, OTHER):
        assert ForestFiles(tmp_path).forest(request) == made(quick_forest, MAP, request)
    for lacking in (replace(REQUEST, delta=0), replace(REQUEST, map_id="0" * 64)):
        with pytest.raises(NotOffered, match="geocorgi-server forest"):
            ForestFiles(tmp_path).forest(lacking)
    with pytest.raises(BadFile, match="no file and no folder"):
        ForestFiles(tmp_path / "nowhere").forest(REQUEST)


def test_one_file_is_taken_as_it_is_and_judged_by_acceptance(tmp_path):
    path = tmp_path / "forest.safetensors"
    path.write_bytes(made(quick_forest, MAP, REQUEST))
    accept(ForestFiles(path).forest(REQUEST), MAP, REQUEST)
    with pytest.raises(ForestRefused, match="not what was asked for"):
        accept(ForestFiles(path).forest(OTHER), MAP, OTHER)


def test_what_a_file_says_of_itself_is_no_reason_to_believe_it(tmp_path):
    lying = replace(quick_forest(MAP, replace(REQUEST, epsilon_per_km=15.0)), epsilon_per_km=5.0)
    (tmp_path / "lying.safetensors").write_bytes(forest_bytes(lying))
    with pytest.raises(ForestRefused, match="not geo-indistinguishable"):
        accept(ForestFiles(tmp_path).forest(REQUEST), MAP, REQUEST)
