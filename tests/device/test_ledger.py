"""The ledger: replays are free, fresh draws are charged, nothing is lost and nothing leaks."""

from __future__ import annotations

import itertools
import json
import pickle
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocorgi.device.data_folder import data_folder
from geocorgi.device.erasing import erase
from geocorgi.device.ledger import Ledger
from geocorgi.device.memory import Terms
from geocorgi.device.policy import Budget
from geocorgi.device.secret import device_secret
from geocorgi.errors import BadFile, BudgetSpent, GeocorgiError, InvalidInput
from geocorgi.tree import cells
from tests.conftest import REPOSITORY
from tests.device.ledger_processes import LEAVES

HOME, WORK, DRAWN, OTHER = LEAVES[0], LEAVES[20], LEAVES[7], LEAVES[30]
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


class Hand:
    """Draws what it is told to, and counts."""

    def __init__(self, *leaves: str) -> None:
        self.leaves = list(leaves)

    def __call__(self) -> str:
        return self.leaves.pop(0)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ledger(tmp_path, clock):
    with Ledger(tmp_path, clock) as opened:
        yield opened


def terms(**changes) -> Terms:
    return Terms(**({"recipient": "weather", "epsilon_per_km": 2.0, "resolution": 9} | changes))


def no_draw() -> str:
    raise AssertionError("nothing was to be drawn")


def test_a_place_is_drawn_once_and_replayed_free_whatever_else_changes(ledger):
    assert ledger.report(HOME, Hand(DRAWN), terms()).fresh
    for changes in ({}, {"recipient": "taxi"}, {"epsilon_per_km": 0.5}, {"resolution": 8}):
        given_again = ledger.report(HOME, no_draw, terms(**changes))
        assert not given_again.fresh
        assert given_again.balance.spent_per_km == 2.0
        resolution = changes.get("resolution", 9)
        assert given_again.cell == cells.ancestor(DRAWN, resolution)


def test_memory_does_not_expire_but_the_period_does(ledger, clock):
    ledger.report(HOME, Hand(DRAWN), terms(budget=Budget(ceiling_per_km=2.0)))
    clock.now += timedelta(days=3_000)
    later = ledger.report(HOME, no_draw, terms(budget=Budget(ceiling_per_km=2.0)))
    assert (later.cell, later.balance.spent_per_km) == (DRAWN, 0.0)


def test_a_remembered_cell_that_must_not_be_reported_any_more_is_drawn_again_and_charged(ledger):
    ledger.report(HOME, Hand(DRAWN), terms())
    again = ledger.report(HOME, Hand(OTHER), terms(removed=frozenset({DRAWN})))
    assert (again.cell, again.fresh, again.balance.spent_per_km) == (OTHER, True, 4.0)
    assert ledger.report(HOME, no_draw, terms()).cell == OTHER  # the old one does not come back


def test_whoever_decides_what_is_removed_buys_no_draws_by_changing_it(ledger):
    """Weather that alternates, or a source that plays a game."""
    removed = [frozenset({DRAWN}), frozenset({OTHER}), frozenset()]
    ledger.report(HOME, Hand(DRAWN), terms())
    ledger.report(HOME, Hand(OTHER), terms(removed=removed[0]))
    given = [ledger.report(HOME, no_draw, terms(removed=one)) for one in 10 * removed]
    assert {one.cell for one in given[1::3]} == {DRAWN}
    assert {one.cell for one in given[::3] + given[2::3]} == {OTHER}
    assert given[-1].balance.spent_per_km == 4.0
    assert ledger.report(HOME, Hand(WORK), terms(removed=frozenset({DRAWN, OTHER}))).fresh
    again = ledger.report(HOME, Hand(OTHER), terms(anew=True))
    assert (again.cell, ledger.report(HOME, no_draw, terms()).cell) == (OTHER, OTHER)


def test_a_remembered_cell_that_is_not_on_the_map_is_drawn_again_and_charged(ledger):
    here = frozenset({cells.ancestor(HOME, 8)})
    assert cells.ancestor(DRAWN, 8) not in here
    ledger.report(HOME, Hand(DRAWN), terms())
    assert ledger.report(HOME, Hand(LEAVES[1]), terms(roots=here)).balance.draws == 2
    assert ledger.report(HOME, no_draw, terms(roots=here)).cell == LEAVES[1]
    everywhere = frozenset({cells.ancestor(HOME, 7)})
    assert ledger.report(HOME, no_draw, terms(roots=everywhere)).cell == LEAVES[1]
    finer = frozenset({cells.descendants(HOME, 10)[0]})  # a leaf of another map is none of this one
    assert ledger.report(HOME, Hand(OTHER), terms(roots=finer)).fresh


def test_an_older_draw_does_not_come_back_for_less_than_is_asked_for(ledger):
    ledger.report(HOME, Hand(DRAWN), terms(epsilon_per_km=9.0))
    ledger.report(HOME, Hand(OTHER), terms(anew=True))
    removed = terms(removed=frozenset({OTHER}))
    assert ledger.report(HOME, no_draw, replace(removed, epsilon_per_km=9.0)).cell == DRAWN
    assert ledger.report(HOME, Hand(WORK), replace(removed, epsilon_per_km=8.9)).fresh


def test_what_was_drawn_without_a_guarantee_is_never_replayed_under_one(ledger):
    ledger.report(HOME, Hand(DRAWN), terms(apart=True))
    assert ledger.report(HOME, Hand(OTHER), terms()).fresh
    assert ledger.report(HOME, no_draw, terms(apart=True)).cell == DRAWN
    assert ledger.report(HOME, no_draw, terms()).cell == OTHER


def test_a_replay_says_what_its_draw_was_charged_whatever_is_asked_for_now(ledger):
    assert ledger.report(HOME, Hand(DRAWN), terms(epsilon_per_km=9.0)).keeps.epsilon_per_km == 9.0
    limited = Budget(ceiling_per_km=10.0, at_ceiling="repeat")
    assert ledger.report(HOME, no_draw, terms(epsilon_per_km=1.0)).keeps.epsilon_per_km == 9.0
    repeated = ledger.report(WORK, no_draw, terms(budget=limited))
    assert (repeated.repeated, repeated.keeps.epsilon_per_km) == (True, 9.0)
    fresh = ledger.report(HOME, Hand(OTHER), terms(epsilon_per_km=1.0, anew=True))
    assert fresh.keeps.epsilon_per_km == 1.0
    assert ledger.report(HOME, no_draw, terms()).keeps.epsilon_per_km == 1.0


def test_an_explicit_wish_draws_again_and_is_charged(ledger):
    ledger.report(HOME, Hand(DRAWN), terms())
    assert ledger.report(HOME, Hand(OTHER), terms(anew=True)).balance.draws == 2
    assert ledger.report(HOME, no_draw, terms()).cell == OTHER


def test_an_average_is_drawn_anew_every_time_and_charged_and_never_remembered(ledger):
    coarse = cells.ancestor(DRAWN, 8)
    averaged = terms(remembered=False, resolution=8)
    given = [ledger.report(HOME, Hand(coarse), averaged) for _ in range(3)]
    assert [one.balance.draws for one in given] == [1, 2, 3]
    assert ledger.report(HOME, Hand(OTHER), terms()).fresh


def test_at_the_ceiling_old_and_new_places_are_refused_alike(ledger, clock):
    limited = terms(budget=Budget(24, 4.0))
    ledger.report(HOME, Hand(DRAWN), limited)
    clock.now += timedelta(hours=1)
    ledger.report(WORK, Hand(OTHER), limited)
    refusals = set()
    for place in (HOME, WORK, LEAVES[3]):
        with pytest.raises(BudgetSpent) as refusal:
            ledger.report(place, no_draw, limited)
        refusals.add((str(refusal.value), refusal.value.frees_at))
    assert len(refusals) == 1
    assert refusals.pop()[1] == NOON + timedelta(hours=24)
    clock.now = NOON + timedelta(hours=24)
    assert ledger.report(HOME, no_draw, limited).cell == DRAWN


def test_at_the_ceiling_the_last_report_is_repeated_wherever_she_is_by_now(ledger):
    limited = terms(budget=Budget(ceiling_per_km=4.0, at_ceiling="repeat"))
    ledger.report(HOME, Hand(DRAWN), limited)
    ledger.report(WORK, Hand(OTHER), limited)
    for place in (HOME, WORK, LEAVES[3]):
        repeated = ledger.report(place, no_draw, limited)
        assert (repeated.cell, repeated.repeated, repeated.fresh) == (OTHER, True, False)
    removed = terms(budget=limited.budget, removed=frozenset({OTHER}))
    with pytest.raises(BudgetSpent):  # it must not be reported any more
        ledger.report(HOME, no_draw, removed)


def test_what_was_drawn_without_a_guarantee_is_repeated_only_without_one(ledger):
    limited = Budget(ceiling_per_km=4.0, at_ceiling="repeat")
    ledger.report(HOME, Hand(DRAWN), terms(budget=limited))
    ledger.report(WORK, Hand(OTHER), terms(budget=limited, apart=True))
    assert ledger.report(HOME, no_draw, terms(budget=limited, apart=True)).cell == OTHER
    with pytest.raises(BudgetSpent):
        ledger.report(HOME, no_draw, terms(budget=limited))


def test_a_repeated_report_keeps_what_it_kept_whoever_repeats_it(ledger):
    limited = Budget(ceiling_per_km=2.0, at_ceiling="repeat")
    ledger.report(HOME, Hand(DRAWN), terms(budget=limited))
    for apart in (True, False):
        assert ledger.report(WORK, no_draw, terms(budget=limited, apart=apart)).cell == DRAWN


def test_nothing_to_repeat_is_a_refusal(ledger):
    with pytest.raises(BudgetSpent, match="none ever fits"):
        ledger.report(HOME, no_draw, terms(budget=Budget(ceiling_per_km=1.0, at_ceiling="repeat")))


def test_a_draw_that_fails_has_charged_nothing_and_holds_nothing(ledger, tmp_path):
    def fails() -> str:
        raise InvalidInput("no row")

    with pytest.raises(InvalidInput, match="no row"):
        ledger.report(HOME, fails, terms())
    assert ledger.charges() == ledger.history() == ()
    with Ledger(tmp_path) as other:  # the lock is free
        assert other.report(HOME, Hand(DRAWN), terms()).fresh


def test_the_history_says_what_was_sent_to_whom_when_and_what_it_cost(ledger, clock):
    ledger.report(HOME, Hand(DRAWN), terms())
    clock.now += timedelta(minutes=5)
    ledger.report(HOME, no_draw, terms(recipient="taxi", resolution=7))
    first, second = ledger.history()
    assert (first.time, first.recipient, first.cell) == (NOON, "weather", DRAWN)
    assert (first.kind, first.epsilon_per_km) == ("fresh", 2.0)
    assert (second.time, second.recipient) == (NOON + timedelta(minutes=5), "taxi")
    assert second.cell == cells.ancestor(DRAWN, 7)
    assert (second.kind, second.epsilon_per_km) == ("remembered", 0.0)


def test_erasing_forgets_everything_but_what_was_spent(tmp_path, clock):
    limited = terms(budget=Budget(ceiling_per_km=4.0))
    clock.now += timedelta(minutes=10)
    with Ledger(tmp_path, clock) as ledger:
        ledger.report(HOME, Hand(DRAWN), limited)
        ledger.settle([HOME])
    erased = erase(tmp_path)
    assert (erased.places, erased.reports, erased.charges_kept) == (1, 1, 1)
    with Ledger(tmp_path, clock) as ledger:
        assert ledger.history() == ()
        # The hour is all that is left of the journey, and it frees no earlier for that.
        assert [charge.time for charge in ledger.charges()] == [NOON + timedelta(hours=1)]
        again = ledger.report(HOME, Hand(OTHER), limited)
        assert (again.fresh, again.balance.spent_per_km) == (True, 4.0)
        with pytest.raises(BudgetSpent):
            ledger.report(WORK, no_draw, limited)


def test_what_is_erased_is_nowhere_in_the_files(tmp_path):
    with Ledger(tmp_path) as ledger:
        for place, leaf in itertools.product(LEAVES[:30], [DRAWN]):
            ledger.report(place, Hand(leaf), terms(recipient="the-newspaper"))
    assert any(b"the-newspaper" in content(path) for path in tmp_path.iterdir())
    erase(tmp_path)
    for path in tmp_path.iterdir():
        assert DRAWN.encode() not in content(path)
        assert b"the-newspaper" not in content(path)


def test_what_a_reader_keeps_from_being_erased_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("geocorgi.device.ledger_file.SECONDS_TO_WAIT", 0.1)
    with Ledger(tmp_path) as ledger:
        ledger.report(HOME, Hand(DRAWN), terms())
    reader = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM memory").fetchall()
    with pytest.raises(BadFile, match="erase again"):
        erase(tmp_path)
    reader.close()
    erase(tmp_path)
    assert not any(DRAWN.encode() in content(path) for path in tmp_path.iterdir())


def content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def test_the_real_place_is_in_no_file_and_the_files_are_their_owners_alone(tmp_path):
    folder = data_folder(tmp_path / "data")
    with Ledger(folder) as ledger:
        ledger.report(HOME, Hand(DRAWN), terms())
        ledger.settle([WORK])
        ledger.settle([OTHER], timedelta(hours=1))
        ledger.settle([LEAVES[2]], timedelta(hours=1))
        found = list(folder.iterdir())
        assert {path.stat().st_mode & 0o777 for path in found} == {0o600}
        assert folder.stat().st_mode & 0o777 == 0o700
        for path, place in itertools.product(found, (HOME, WORK, LEAVES[2])):
            for spelling in (place.encode(), int(place, 16).to_bytes(8, "big")):
                assert spelling not in path.read_bytes()


def test_files_that_others_could_read_are_closed_to_them_when_opened(tmp_path):
    with Ledger(tmp_path):
        pass
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    with Ledger(tmp_path):
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("harm", ["lost", "other", "short"])
def test_a_secret_that_does_not_fit_is_refused_and_never_replaced_in_silence(tmp_path, harm):
    with Ledger(tmp_path) as ledger:
        ledger.report(HOME, Hand(DRAWN), terms())
    key = tmp_path / "secret.key"
    if harm == "lost":
        key.unlink()
    else:
        key.write_bytes(b"x" * (32 if harm == "other" else 5))
    with pytest.raises(BadFile, match=r"secret\.key"):
        Ledger(tmp_path)
    assert key.exists() is (harm != "lost")
    if harm != "short":
        erase(tmp_path)
        with Ledger(tmp_path) as ledger:
            assert len(ledger.charges()) == 1


def test_a_damaged_ledger_is_refused_with_a_way_out(tmp_path):
    with Ledger(tmp_path):
        pass
    (tmp_path / "ledger.sqlite").write_bytes(b"no database at all" * 1_000)
    with pytest.raises(BadFile, match="restore it from a backup"):
        Ledger(tmp_path)


HARMS = {
    "a time": "UPDATE charges SET time = 'noon'",
    "a time beyond all time": "UPDATE charges SET time = 1e300",
    "a cost": "UPDATE charges SET epsilon_per_km = x'00ff'",
    "whose it is": "UPDATE witness SET of_secret = 'mine'",
    "within what it hides": "UPDATE memory SET area_resolution = 99",
    "what was drawn": "UPDATE memory SET drawn = 'here'",
    "whom it hides": "UPDATE memory SET rows = 'all'",
    "nobody's": "DELETE FROM witness",
    "where she settled": "UPDATE present SET settled = 'here'",
    "what hides it": "UPDATE present SET settled = zeroblob(47)",
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_ledger_of_which_some_value_is_damaged_is_refused_in_a_sentence(tmp_path, harm):
    with Ledger(tmp_path) as ledger:
        ledger.report(HOME, Hand(DRAWN), terms())
        ledger.settle([HOME])
    with sqlite3.connect(tmp_path / "ledger.sqlite") as other:
        other.execute(HARMS[harm])
    other.close()
    with pytest.raises(BadFile, match="damaged"):
        use(tmp_path)


def use(folder: Path) -> None:
    with Ledger(folder) as ledger:
        ledger.settle([HOME])
        ledger.report(HOME, Hand(OTHER), terms())
        ledger.history()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_a_ledger_with_any_bytes_changed_is_used_or_refused_in_a_sentence(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    with Ledger(folder) as ledger:
        ledger.report(HOME, Hand(DRAWN), terms())
    path = folder / "ledger.sqlite"
    content = bytearray(path.read_bytes())
    places = st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=40)
    for place in data.draw(places):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        use(folder)
        erase(folder)
    except GeocorgiError:
        pass


def test_a_ledger_that_somebody_holds_is_refused_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr("geocorgi.device.ledger_file.SECONDS_TO_WAIT", 0.05)
    with Ledger(tmp_path) as ledger:
        other = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadFile, match="another process"):
            ledger.report(HOME, no_draw, terms())
        other.close()


def test_where_files_have_one_name_only_a_ledger_begins_all_the_same(tmp_path, monkeypatch):
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    for kind in ("fresh", "again"):
        with Ledger(tmp_path) as ledger:
            assert ledger.report(HOME, Hand(DRAWN), terms()).fresh is (kind == "fresh")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_ledger_that_may_not_be_closed_to_others_is_refused_in_a_sentence(tmp_path, monkeypatch):
    with Ledger(tmp_path):
        pass
    (tmp_path / "ledger.sqlite").chmod(0o644)

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    with pytest.raises(BadFile, match="cannot be used: Operation not permitted"):
        Ledger(tmp_path)


def test_a_ledger_of_another_version_is_refused(tmp_path):
    with Ledger(tmp_path):
        pass
    other = sqlite3.connect(tmp_path / "ledger.sqlite")
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(BadFile, match="version 99"):
        Ledger(tmp_path)


@pytest.mark.parametrize("label", ["", "x" * 65, "new\nline", None])
def test_a_recipient_is_a_label_that_can_be_listed(label):
    with pytest.raises(InvalidInput, match="recipient"):
        terms(recipient=label)


def test_the_secret_shows_itself_to_nobody(tmp_path):
    secret = device_secret(tmp_path)
    assert (tmp_path / "secret.key").read_bytes().hex() not in repr(secret)
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert secret.name("place", "ab", "c") != secret.name("place", "a", "bc")
    assert secret.name("place", "a") != secret.name("decoy", "a")
    assert device_secret(tmp_path).name("place", "a") == secret.name("place", "a")
    hidden = secret.hide("settled", HOME)
    assert hidden != secret.hide("settled", HOME)
    assert secret.reveal("settled", hidden) == HOME


PLACES = st.integers(0, 3)
ASKED = st.lists(
    st.tuples(PLACES, st.sampled_from([0.5, 2.0]), st.booleans(), st.booleans()), max_size=12
)


@given(asked=ASKED)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_any_run_of_reports_costs_one_charge_for_every_draw_and_never_one_more(
    tmp_path_factory, asked
):
    drawn, expected, memory, spent = [], [], {}, 0.0
    with Ledger(tmp_path_factory.mktemp("run")) as ledger:
        for place, epsilon, anew, falls in asked:
            known = memory.setdefault(place, [])
            removed = frozenset(leaf for leaf, _ in known[-1:] if falls)
            stay = [leaf for leaf, cost in known[:-1] if cost <= epsilon]
            stay += [leaf for leaf, _ in known[-1:] if not falls]
            fresh = anew or not stay
            leaf = LEAVES[len(drawn) + 1]
            draw = Hand(leaf) if fresh else no_draw
            answer = ledger.report(
                LEAVES[place], draw, terms(epsilon_per_km=epsilon, anew=anew, removed=removed)
            )
            if fresh:
                drawn.append(leaf)
                known.append((leaf, epsilon))
                spent += epsilon
            expected.append(leaf if fresh else stay[-1])
            assert (answer.cell, answer.fresh) == (expected[-1], fresh)
            assert answer.balance.spent_per_km == spent
        assert [sent.cell for sent in ledger.history()] == expected
        assert sum(charge.epsilon_per_km for charge in ledger.charges()) == spent


def processes(*words: object) -> list[list]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.device.ledger_processes", *map(str, words)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_killed_before_any_statement_it_charges_once_and_replays_what_was_drawn(tmp_path):
    runs = processes("steps", tmp_path)
    assert len(runs) > 15
    charged_at_the_end = []
    for step, status, told, again, draws in runs:
        assert (status, told) == (9, "")
        assert again == [draws[-1]] * 2  # a draw that was charged is never made again
        with Ledger(tmp_path / f"{step:03}") as ledger:
            assert len(ledger.charges()) == 1, step
        charged_at_the_end.append(len(draws) == 1)
    assert charged_at_the_end[0]  # killed before it drew
    assert not all(charged_at_the_end)  # killed between the draw and its charge: drawn again
    assert charged_at_the_end[-1]  # killed after its charge: replayed, free


def test_processes_at_once_draw_every_place_once(tmp_path):
    answers = processes("race", tmp_path, 100, *([0, 1, 2] * 6))
    told = {place: {cell for at, cell in answers if at == place} for place, _ in answers}
    assert len(answers) == 18
    assert {place: len(cells_told) for place, cells_told in told.items()} == {0: 1, 1: 1, 2: 1}
    assert len((tmp_path / "draws").read_text().split()) == 3
    with Ledger(tmp_path) as ledger:
        assert len(ledger.charges()) == 3


def test_processes_at_once_never_pass_the_ceiling(tmp_path):
    answers = processes("race", tmp_path, 5, *range(16))
    assert Counter(cell is not None for _, cell in answers) == {True: 5, False: 11}
    with Ledger(tmp_path) as ledger:
        assert len(ledger.charges()) == 5
