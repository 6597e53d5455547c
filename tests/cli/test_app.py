"""``geocorgi app`` as it is started; what it then serves is tested in a browser."""

from __future__ import annotations

import socket
import sys

import pytest

from tests.cli.command import said


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOCORGI_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NICEGUI_STORAGE_PATH", raising=False)


def test_a_port_that_is_taken_is_refused_with_a_way_out(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = said(capsys, "app", "--no-browser", "--port", port)
    assert found.code == 2
    assert "try --port 0" in found.err


def test_one_background_at_most(capsys, tmp_path):
    both = ("--mbtiles", tmp_path / "a", "--tiles", "https://t.example/{z}/{x}/{y}")
    assert "choose one of --mbtiles and --tiles" in said(capsys, "app", *both).err


def test_tiles_of_an_address_are_warned_of_and_bad_ones_refused(capsys):
    found = said(capsys, "app", "--tiles", "https://tiles.example/")
    assert found.code == 2
    assert "{z}/{x}/{y}" in found.err


def test_a_policy_file_that_is_wrong_is_named_by_its_line_at_once(capsys, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("privacy_level = 1\nprecision_level = 2\n", encoding="utf-8")
    found = said(capsys, "app", "--no-browser", "--policy", policy)
    assert found.code == 2
    assert "line 2" in found.err


def test_without_the_extra_one_sentence_says_what_to_install(capsys, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("geocorgi.device.app.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nicegui", None)
    found = said(capsys, "app", "--no-browser")
    assert found.code == 2
    assert "pip install 'geocorgi[app]'" in " ".join(found.err.split())
