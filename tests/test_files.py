"""A file is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from geocorgi import files
from geocorgi.errors import BadFile
from geocorgi.files import write_atomically


def test_the_content_replaces_what_was_there(tmp_path):
    target = tmp_path / "it"
    target.write_bytes(b"old")
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_before_the_end_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "it"
    target.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(BadFile, match="cannot write it: No space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_bytes_reach_the_disk_before_their_name_does_and_the_name_too(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(files.os, "fsync", lambda handle: (order.append("sync"), fsync(handle)))
    monkeypatch.setattr(Path, "replace", lambda self, to: (order.append("name"), replace(self, to)))
    write_atomically(tmp_path / "it", b"new")
    assert order == ["sync", "name", "sync"]


def test_a_folder_that_is_not_there_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(BadFile, match="cannot write it"):
        write_atomically(tmp_path / "no" / "it", b"new")
