"""Work beside the page: its progress, its end, and stopping it before it is too late."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from geocorgi.device.app.job import Job, Stopped, done_aside
from geocorgi.errors import InvalidInput

SOON = 2.0


def test_what_the_work_returns_is_returned_and_its_progress_is_seen():
    job, seen = Job(), []

    def work(job):
        job.say("counting", 1, 2)
        time.sleep(0.3)
        return 7

    found = asyncio.run(done_aside(job, work, lambda: seen.append((job.said, job.done, job.of))))
    assert found == 7
    assert ("counting", 1, 2) in seen


def test_what_the_work_raises_is_raised():
    def work(_job):
        raise InvalidInput("no")

    with pytest.raises(InvalidInput, match="no"):
        asyncio.run(done_aside(Job(), work))


def test_the_event_loop_goes_on_while_the_work_is_busy():
    async def both():
        working = asyncio.create_task(done_aside(Job(), lambda _job: time.sleep(0.5) or "done"))
        turns = 0
        while not working.done():
            await asyncio.sleep(0.01)
            turns += 1
        return turns, await working

    turns, found = asyncio.run(both())
    assert found == "done"
    assert turns > 5


def test_who_stops_waits_no_longer_whatever_the_work_hangs_in():
    job, over = Job(), threading.Event()

    def work(job):
        over.wait(30)
        job.say("too late")

    async def stopped():
        threading.Timer(0.2, job.stop).start()
        await done_aside(job, work)

    began = time.monotonic()
    with pytest.raises(Stopped):
        asyncio.run(stopped())
    assert time.monotonic() - began < 10
    over.set()


def test_stopped_work_ends_where_it_next_says_something():
    job = Job()
    assert job.stop()
    with pytest.raises(Stopped):
        job.say("one more")
    with pytest.raises(Stopped):
        job.point_of_no_return()


def test_past_the_point_of_no_return_stopping_is_too_late():
    job = Job()
    job.point_of_no_return()
    assert not job.stop()
    assert not job.stopped
    job.say("writing down")


def test_of_stopping_and_drawing_exactly_one_wins():
    for _ in range(50):
        job, drawn = Job(), []

        def draw(job=job, drawn=drawn):
            try:
                job.point_of_no_return()
                drawn.append(1)
            except Stopped:
                pass

        thread = threading.Thread(target=draw)
        thread.start()
        stopped = job.stop()
        thread.join(SOON)
        assert stopped != bool(drawn)
