"""What is noted again and again is noted once a minute."""

from __future__ import annotations

import logging

from geocorgi.server import seldom
from geocorgi.server.seldom import MOST_REMEMBERED, Seldom


def is_noted(filter_: Seldom, sentence: str) -> bool:
    return filter_.filter(logging.LogRecord("x", logging.INFO, "x", 1, sentence, None, None))


def test_the_same_sentence_is_noted_once_and_others_all_the_same(monkeypatch):
    clock, filter_ = [100.0], Seldom()
    monkeypatch.setattr(seldom.time, "monotonic", lambda: clock[0])
    assert [is_noted(filter_, one) for one in ("a", "a", "b", "a", "b")] == [
        True,
        False,
        True,
        False,
        False,
    ]
    clock[0] += seldom.SECONDS
    assert is_noted(filter_, "a")


def test_what_is_remembered_is_bounded():
    filter_ = Seldom()
    assert all(is_noted(filter_, str(number)) for number in range(3 * MOST_REMEMBERED))
    assert len(filter_._noted) <= MOST_REMEMBERED
