"""Addresses are asked for the whole map: what leaves is the same wherever the user is."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from geocorgi.device.attributes.asking import Asker
from geocorgi.device.attributes.gathering import Gatherer, gatherer
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.policy import Policy
from geocorgi.device.preferences import Preference, Unknown
from geocorgi.device.sources import Source
from geocorgi.device.units import Kind
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import AttributeUnknown, InvalidPolicy
from geocorgi.wire.map_codec import map_id
from tests.device.network.loopback import answer, serving
from tests.wire.maps import LEAVES, ROOT, TREE, small_map

MAP = small_map()
RAIN = answer(json.dumps(dict.fromkeys(LEAVES, "rain") | {LEAVES[2]: "sun"}).encode())


def wanting_sun(url, unknown=None, **more):
    source = Source(Kind.CATEGORY, url=url, time_out=timedelta(seconds=1), **more)
    sun = Preference("weather", "≠", "rain", unknown=unknown, line=2)
    return Policy(1, 0, [sun], sources={"weather": source})


def first_lines(server):
    return [request.split(b"\r\n")[0].decode() for request in server.requests]


def test_the_question_never_depends_on_the_users_cell(tmp_path):
    with serving(RAIN) as server:
        policy = wanting_sun(server.url + "w?at={roots}&r={resolution}&m={map_id}")
        for number, leaf in enumerate(LEAVES[::4]):
            user = Whereabouts(leaf)
            data = tmp_path / str(number)
            data.mkdir()
            known = gatherer(tmp_path, data)(policy, MAP)
            removal = removed_over_map(policy, MAP, known, user.leaf_of(MAP))
            assert removal.removed == set(LEAVES) - {LEAVES[2]}
    assert len(server.requests) == 13
    (only,) = set(server.requests)
    assert only.startswith(f"GET /w?at={ROOT}&r=9&m={map_id(MAP)} HTTP/1.1\r\n".encode())
    assert not any(leaf.encode() in only for leaf in (*LEAVES, *TREE.nodes(1)))


def test_one_subtree_is_told_only_where_the_policy_itself_names_it(tmp_path):
    subtree = TREE.nodes(1)[4]
    with serving(RAIN) as server:
        policy = wanting_sun(server.url + "{roots}", subtree=subtree)
        gatherer(tmp_path, tmp_path)(policy, MAP)
    assert first_lines(server) == [f"GET /{subtree} HTTP/1.1"]
    assert policy.asked_for_one_subtree == ("weather",)
    assert wanting_sun("https://a.example/").asked_for_one_subtree == ()


def test_an_answer_is_used_again_until_its_time_to_live_is_over(tmp_path):
    clock = [datetime(2024, 7, 1, tzinfo=UTC)]
    with serving(RAIN) as server:
        policy = wanting_sun(server.url, time_to_live=timedelta(minutes=15))
        usual = gatherer(tmp_path, tmp_path)
        asker = Asker(usual.asker.connect, tmp_path / "kept", lambda: clock[0])
        timed = Gatherer(tmp_path, tmp_path, asker)
        first = timed(policy, MAP)
        clock[0] += timedelta(minutes=14, seconds=59)
        assert timed(policy, MAP)["weather"] == first["weather"]
        assert len(server.requests) == 1
        clock[0] += timedelta(seconds=1)
        timed(policy, MAP)
        assert len(server.requests) == 2
        clock[0] -= timedelta(days=1)  # a clock that was set back keeps nothing for ever
        timed(policy, MAP)
        assert len(server.requests) == 3
    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text("{}")
    assert "cannot be reached" in str(timed(policy, MAP)["weather"].trouble)


def hang(connection):
    time.sleep(1)


DOWN = {
    "late": (hang, "did not answer in time"),
    "an error": (answer(b"no", status="500 Oops"), "status 500"),
    "not found": (answer(b"", status="404 Not Found"), "status 404"),
    "elsewhere": (answer(b"", "Location: http://127.0.0.1:1/", status="302 Found"), "elsewhere"),
    "no table": (answer(b"<html>"), "no table"),
    "broken off": (answer(b'{"a":', length=500), "broke"),
    "too large": (answer(b"x", length=21_000_000) + b"x" * 21_000_000, "20,000,000 bytes"),
}


CHOICES = [(case, Unknown.KEEP) for case in DOWN]
CHOICES += [("late", Unknown.REMOVE), ("late", Unknown.REFUSE), ("an error", Unknown.REFUSE)]


@pytest.mark.parametrize(("case", "unknown"), CHOICES)
def test_a_source_that_is_down_or_late_leads_to_the_chosen_answer(tmp_path, case, unknown):
    script, says = DOWN[case]
    with serving(script) as server:
        source = Source(Kind.CATEGORY, url=server.url, time_out=timedelta(seconds=0.4))
        wanted = Preference("weather", "≠", "rain", unknown=unknown, line=2)
        calm = Preference("distance", ">", 0, "m")
        policy = Policy(1, 0, [wanted, calm], sources={"weather": source})
        known = gatherer(tmp_path, tmp_path)(policy, MAP)
    if unknown is Unknown.KEEP:
        (note,) = removed_over_map(policy, MAP, known).notes
        assert says in note
    elif unknown is Unknown.REMOVE:
        with pytest.raises(InvalidPolicy, match="no cell of the whole map"):
            removed_over_map(policy, MAP, known)
    else:
        with pytest.raises(AttributeUnknown, match=says):
            removed_over_map(policy, MAP, known)


def test_an_incomplete_answer_is_said(tmp_path):
    with serving(answer(json.dumps({LEAVES[0]: "sun", LEAVES[1]: ["?"] * 99}).encode())) as server:
        policy = wanting_sun(server.url, Unknown.REMOVE)
        known = gatherer(tmp_path, tmp_path)(policy, MAP)
    removal = removed_over_map(policy, MAP, known)
    assert removal.removed == set(LEAVES[1:])
    (note,) = removal.notes
    assert "48 of 49 cells (1 rows of its source cannot be understood): they are removed" in note


@pytest.mark.parametrize(
    "url",
    [
        "http://weather.example/", "ftp://a.example/", "https://", "https://me:secret@a.example/",
        "https://[", "weather",
    ],
)  # fmt: skip
def test_an_address_that_others_could_answer_is_refused(url):
    with pytest.raises(InvalidPolicy, match="https"):
        Source(Kind.NUMBER, url=url)
