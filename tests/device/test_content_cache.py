"""What was fetched once is there again, whole, or not at all."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.content_cache import ContentCache, usual_folder
from geocorgi.errors import BadFile


@pytest.fixture
def cache(tmp_path) -> ContentCache:
    return ContentCache(tmp_path / "cache")


def test_content_comes_back_under_the_digest_of_it(cache):
    name = cache.keep(b"corgi")
    assert name == hashlib.sha256(b"corgi").hexdigest()
    assert cache.content(name) == b"corgi"
    assert ContentCache(cache.folder).content(name) == b"corgi"


def test_what_was_never_kept_is_not_there(cache):
    assert cache.content("0" * 64) is None
    assert cache.named("map") is None


@pytest.mark.parametrize("damage", [b"corgj", b"corg", b"", b"corgi "])
def test_damaged_content_is_noticed_and_thrown_away(cache, damage):
    name = cache.keep(b"corgi")
    (cache.folder / "content" / name).write_bytes(damage)
    assert cache.content(name) is None
    assert not (cache.folder / "content" / name).exists()


def test_content_can_be_forgotten(cache):
    name = cache.keep(b"corgi")
    cache.forget(name)
    cache.forget(name)
    assert cache.content(name) is None


def test_a_name_keeps_a_digest_and_nothing_else(cache):
    sha256 = cache.keep(b"corgi")
    cache.name("https://geo.example/ map", sha256)
    assert cache.named("https://geo.example/ map") == sha256
    (path,) = (cache.folder / "names").iterdir()
    for damage in (b"", b"x", b"f" * 63, b"f" * 65, b"\xff" * 64, b"../" * 21 + b"."):
        path.write_bytes(damage)
        assert cache.named("https://geo.example/ map") is None


@given(st.text(max_size=200))
def test_no_name_leads_out_of_the_folder(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("names")
    cache = ContentCache(folder / "cache")
    cache.name(name, "a" * 64)
    assert cache.named(name) == "a" * 64
    assert [path.name for path in folder.iterdir()] == ["cache"]


def test_the_oldest_content_goes_when_there_is_too_much(tmp_path):
    cache = ContentCache(tmp_path, most_bytes=250)
    names = []
    for letter in b"abcd":
        names.append(cache.keep(bytes([letter]) * 100))
        for age, name in enumerate(reversed(names)):  # clocks are coarser than this test
            path = tmp_path / "content" / name
            if path.exists():
                os.utime(path, (1_000_000 - age, 1_000_000 - age))
    assert [cache.content(name) is not None for name in names] == [False, False, True, True]


def test_what_is_larger_than_the_cache_is_not_kept_and_costs_nothing(tmp_path):
    cache = ContentCache(tmp_path, most_bytes=250)
    small = cache.keep(b"x" * 100)
    large = cache.keep(b"y" * 251)
    assert cache.content(large) is None
    assert cache.content(small) is not None


def test_the_folder_and_all_in_it_is_the_users_alone(cache):
    cache.name("map", cache.keep(b"corgi"))
    for path in (cache.folder, *cache.folder.rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(BadFile, match="cannot keep"):
        ContentCache(tmp_path / "cache").keep(b"corgi")


def test_the_usual_folder_is_the_platforms_or_the_one_named(monkeypatch, tmp_path):
    monkeypatch.delenv("GEOCORGI_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "geocorgi" in usual_folder().parts
    monkeypatch.setenv("GEOCORGI_CACHE", str(tmp_path / "mine"))
    assert usual_folder() == tmp_path / "mine"
