"""A window's desk: refusals are said, and what nobody expected names no place."""

from __future__ import annotations

import asyncio
import logging

import pytest

from geocorgi.device.app.desk import Desk, Extras
from geocorgi.errors import InvalidInput
from tests.device.app.sessions import new_session
from tests.wire.maps import LEAVES

HERE = LEAVES[20]


class Heard:
    def __init__(self) -> None:
        self.said: list[tuple[str, bool]] = []

    def show(self, sentence, *, good):
        self.said.append((sentence, good))

    def progress(self, _job):
        """Show nothing."""


@pytest.fixture
def desk(tmp_path):
    return Desk(new_session(tmp_path), Extras(), news=Heard())


def raising(failure):
    def work(*_):
        raise failure

    return work


def test_a_refusal_is_one_sentence_with_its_way_out(desk):
    assert desk.attempt(raising(InvalidInput("name a cell, such as '86283082fffffff'"))) is None
    assert desk.news.said == [("Name a cell, such as '86283082fffffff'", False)]


def test_what_nobody_expected_is_said_without_its_words(desk, caplog):
    with caplog.at_level(logging.DEBUG):
        desk.attempt(raising(ValueError(f"at {HERE}")))
        asyncio.run(desk.run(raising(KeyError(HERE))))
    assert "ValueError" in desk.news.said[0][0]
    assert "KeyError" in desk.news.said[1][0]
    assert HERE not in caplog.text + str(desk.news.said)
    assert "unexpected: KeyError (work:" in caplog.text


def test_one_thing_at_a_time(desk):
    async def twice():
        first = asyncio.create_task(desk.run(lambda _job: "done"))
        await asyncio.sleep(0)
        return await desk.run(lambda _job: "too"), await first

    assert asyncio.run(twice()) == (None, "done")
    assert "stop it first" in desk.news.said[0][0]


def test_a_form_is_drawn_anew_with_the_policy_and_not_with_the_place(desk):
    drawn = []
    desk.with_policy(lambda: drawn.append(desk.session.text))
    desk.changed()
    assert drawn == []
    desk.session.use_text("privacy_level = 1\n")
    desk.changed()
    desk.changed()
    assert drawn == ["privacy_level = 1\n"]
