"""What the page has before it, and what the device does for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocorgi.device.app.job import Job, Stopped
from geocorgi.device.app.searching import search
from geocorgi.device.app.tools import repainted
from geocorgi.device.app.work import Wish, check, choose, report
from geocorgi.device.attributes.own_places import OwnPlaces
from geocorgi.device.policy import Policy
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import InvalidPolicy, OutsideTree
from geocorgi.tree import cells
from tests.device.app.sessions import MAP, door, new_session
from tests.wire.maps import LEAVES

HERE = LEAVES[20]


def test_a_policy_is_kept_letter_for_letter_and_found_again(tmp_path):
    text = "privacy_level = 1\n# hers\n"
    new_session(tmp_path).use_text(text)
    again = new_session(tmp_path)
    assert again.text == text
    assert again.policy.privacy_level == 1
    assert (tmp_path / "policy.toml").stat().st_mode & 0o077 == 0


def test_a_refused_policy_changes_nothing(tmp_path):
    session = new_session(tmp_path)
    before = session.text
    with pytest.raises(InvalidPolicy, match="line 2"):
        session.use_text("privacy_level = 1\nprecision_level = 1\n")
    assert session.text == before
    assert not (tmp_path / "policy.toml").exists()


def test_a_session_shows_the_place_to_nobody(tmp_path):
    session = new_session(tmp_path)
    session.go_to(Whereabouts(HERE))
    assert HERE not in repr(session)
    assert HERE not in f"{session.whereabouts!r} {session.real_leaf!r}"


def test_a_place_off_the_map_is_refused_and_the_former_stays(tmp_path):
    session = new_session(tmp_path)
    session.go_to(Whereabouts(HERE))
    with pytest.raises(OutsideTree):
        session.go_to(Whereabouts((0.0, 0.0)))
    assert session.real_leaf == HERE


def test_another_policy_forgets_what_the_former_came_to(tmp_path):
    session = new_session(tmp_path)
    session.go_to(Whereabouts(HERE))
    session.chosen = choose(door, session.origin, session.policy, MAP)(Job())
    session.checked = check(door, session.origin, session.policy, 0, session.real_leaf)(Job())
    session.use_policy(replace(session.policy, privacy_level=1))
    assert session.chosen is session.checked is session.reported is None
    assert session.real_leaf == HERE


def test_choosing_gives_each_removed_cell_its_reason_and_needs_no_place(tmp_path):
    policy = repainted(Policy(2, 0), HERE)
    chosen = choose(door, None, policy, MAP)(Job())
    assert chosen.reasons(HERE) == ("black list: 1 cells",)
    assert chosen.reasons(LEAVES[0]) == ()
    assert chosen.selection.request.delta == 2
    assert any("delta 2" in sentence for sentence in chosen.server_learns)
    assert repainted(policy, HERE) == Policy(2, 0)


def test_a_report_that_was_stopped_is_not_drawn(tmp_path):
    session, job = new_session(tmp_path), Job()
    session.go_to(Whereabouts(HERE))
    work = report(door, session.origin, session.policy, session.whereabouts, Wish("anybody"))
    job.say = lambda *_: job.stop()  # stopped after the last thing that is said
    with pytest.raises(Stopped):
        work(job)


def names(text, session):
    return [(match.name, match.kind) for match in search(text, session, MAP)]


def test_a_search_knows_coordinates_cells_own_places_and_names(tmp_path):
    session = new_session(tmp_path)
    session.own = OwnPlaces(home=(HERE,))
    session.use_text("privacy_level = 2\n[place.gym]\nlatitude = 37.774\nlongitude = -122.42\n")
    latitude, longitude = cells.centre(HERE)
    assert names(f"{latitude}, {longitude}", session)[0][1] == "coordinates"
    assert names(HERE, session) == [(HERE, "cell")]
    assert names("home", session) == [("home", "your own place")]
    assert names("GYM", session) == [("gym", "a place of your policy")]
    assert ("Hayes Valley", "about its middle") in names("hayes", session)
    assert names("Paris", session) == []  # known, and not on this map
    assert names("  ", session) == []
    (match,) = search("home", session, MAP)
    assert HERE not in repr(match)
