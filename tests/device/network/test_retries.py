"""Asking again: a few times, ever more rarely, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.device.network import retries
from geocorgi.device.network.door import network
from geocorgi.device.network.exchange import Answer
from geocorgi.device.network.retries import Patience, persistent
from geocorgi.errors import AnswerRefused, Unreachable
from tests.device.network.loopback import answer, serving

AT_ONCE = Patience(attempts=4, pause_seconds=0.001, longest_pause_seconds=0.001)


@pytest.fixture
def slept(monkeypatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", pauses.append)
    return pauses


def test_a_server_that_fails_once_is_asked_again_over_a_real_socket():
    troubles = [answer(b"", status="500 No"), b"", answer(b"hel", length=5)]
    with serving(*troubles, answer(b"hello")) as server, network() as get:
        assert persistent(get, AT_ONCE)(server.url, 1000).content == b"hello"
    assert len(server.requests) == 4
    assert len(set(server.requests)) == 1


def test_attempts_end(slept):
    asked = []

    def never(url: str, most_bytes: int) -> Answer:
        asked.append(url)
        raise Unreachable("no")

    with pytest.raises(Unreachable):
        persistent(never, Patience(attempts=4))("https://geo.example/", 1)
    assert len(asked) == 4
    assert len(slept) == 3


def test_what_is_refused_is_not_asked_for_again(slept):
    def hostile(_url: str, _most_bytes: int) -> Answer:
        raise AnswerRefused("no")

    with pytest.raises(AnswerRefused):
        persistent(hostile, Patience())("https://geo.example/", 1)
    assert slept == []


@given(st.integers(0, 10**9), st.none() | st.integers(0, 10**9))
def test_pauses_are_bounded_whatever_a_server_asks_for(turn, asked_for):
    pauses: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retries.time, "sleep", pauses.append)
        Patience(pause_seconds=1, longest_pause_seconds=30).pause(turn, asked_for)
    assert 0.75 <= pauses[0] <= 37.5


def test_pauses_grow_and_differ(slept):
    patience = Patience(pause_seconds=1, longest_pause_seconds=1000)
    for turn in (0, 0, 0, 5, 5, 5):
        patience.pause(turn)
    assert max(slept[:3]) < min(slept[3:])
    assert len(set(slept)) == 6
