"""What lies under the map: from a file, from a named address, by default nothing."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from geocorgi.device.app.backdrop import MOST_TILES, TileAddress, TileFile
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.tree import cells
from tests.wire.maps import LEAVES

PNG = b"\x89PNG not much of a picture"


def mbtiles(path: Path, picture: bytes, deepest: int = 14) -> Path:
    """Write a file of tiles that cover San Francisco at one zoom."""
    with sqlite3.connect(path) as held:
        held.execute(
            "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER,"
            " tile_data BLOB)"
        )
        columns, rows = range(2_610, 2_630), range(6_325, 6_345)
        held.executemany(
            "INSERT INTO tiles VALUES (?, ?, ?, ?)",
            [(deepest, x, 2**deepest - 1 - y, picture) for x in columns for y in rows],
        )
    held.close()
    return path


def test_tiles_of_an_address_cover_every_cell_and_are_few():
    tiles = TileAddress("https://tiles.example/{z}/{x}/{y}.png").tiles(LEAVES)
    assert 4 <= len(tiles) <= MOST_TILES
    assert all(tile.href.startswith("https://tiles.example/") for tile in tiles)
    for leaf in LEAVES:
        latitude, longitude = cells.centre(leaf)
        assert any(
            tile.south_east[0] <= latitude <= tile.north_west[0]
            and tile.north_west[1] <= longitude <= tile.south_east[1]
            for tile in tiles
        )


def test_a_tile_is_where_the_world_has_it():
    tiles = TileAddress("https://tiles.example/{z}/{x}/{y}.png").tiles([cells.cell_at(90, 0, 0)])
    assert tiles[0].north_west[0] == pytest.approx(85.0511, abs=1e-4)
    for tile in tiles:
        zoom, x, _ = map(int, re.findall(r"\d+", tile.href))
        assert tile.north_west[1] == pytest.approx(360 * x / 2**zoom - 180)


@pytest.mark.parametrize(
    "template",
    [
        "tiles/{z}/{x}/{y}.png",
        "https://tiles.example/{z}/{x}.png",
        "https://tiles.example/{z}/{x}/{y}.png?key={key}",
        "https://tiles.example/{z}/{x}/{y}.png; script-src *",
        "file:///{z}/{x}/{y}",
    ],
)
def test_what_is_no_address_of_tiles_is_refused(template):
    with pytest.raises(InvalidInput, match="address of tiles"):
        TileAddress(template)


def test_tiles_of_a_file_hold_their_pictures(tmp_path):
    tiles = TileFile(mbtiles(tmp_path / "city.mbtiles", PNG)).tiles(LEAVES)
    assert tiles
    assert {tile.href.partition(",")[0] for tile in tiles} == {"data:image/png;base64"}


def test_what_is_no_picture_is_left_out(tmp_path):
    assert TileFile(mbtiles(tmp_path / "city.mbtiles", b"<svg onload=x>")).tiles(LEAVES) == ()


def test_what_is_no_file_of_tiles_is_refused(tmp_path):
    for content in (b"", b"x" * 5_000):
        path = tmp_path / "not.mbtiles"
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"not\.mbtiles is no MBTiles file"):
            TileFile(path)
    with pytest.raises(BadFile, match="is no MBTiles file"):
        TileFile(tmp_path / "missing.mbtiles")
    assert not (tmp_path / "missing.mbtiles").exists()
