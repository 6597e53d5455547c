"""Algorithm 4 end to end, both sides in this process: what is reported keeps what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from geocorgi.device import customising, preparation
from geocorgi.device.acceptance import Accepted
from geocorgi.device.areas import ListedCells
from geocorgi.device.attributes.values import AttributeValues
from geocorgi.device.ledger import Ledger
from geocorgi.device.obfuscate import Obfuscated, obfuscate
from geocorgi.device.policy import Budget, OnExcess, Policy, Precision, Protection, Recipient
from geocorgi.device.preferences import Preference, Unknown
from geocorgi.device.units import Kind
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import (
    AnswerRefused,
    InvalidPolicy,
    NotOffered,
    NotPrivate,
    NotReady,
    NotReported,
    OutsideTree,
    PolicyNotMet,
    Unreachable,
)
from geocorgi.matrix.forest_file import forest_from_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.server.catalogue import Offer, with_catalogue
from geocorgi.tree import cells, distances
from geocorgi.wire.forest_request import encode_request
from tests.device.forests import device_on, optimal_forest, quick_forest
from tests.matrix.oracle import slow_audit
from tests.wire.maps import LEAVES, small_map

MAP = with_catalogue(
    small_map(filters={"even": LEAVES[::2], "most": LEAVES[:47]}, catalogue=()),
    Offer((1, 2), (0, 2, 4, 8), tuple(Rows)),
)
ROOTS = [subtree.root for subtree in MAP.subtrees(1)]
KNOWN = {
    "home": AttributeValues(Kind.BOOLEAN, {leaf: leaf == LEAVES[9] for leaf in LEAVES}),
    "weather": AttributeValues(
        Kind.CATEGORY, {leaf: "rain" if n % 9 == 0 else "sun" for n, leaf in enumerate(LEAVES[:45])}
    ),
}
PREFERENCES = (
    Preference("home", "=", False),
    Preference("even", "=", True),
    Preference("most", "=", True, private=True),
    Preference("popular_18", "≥", 3.0),
    Preference("distance", "≤", 2.0, "km"),
    Preference("weather", "≠", "rain", unknown=Unknown.REMOVE),
    Preference("distance", "≤", 1.2, "km", origin="me"),
)


@st.composite
def policies(draw, *, void: bool | None = None) -> Policy:
    privacy = draw(st.sampled_from((1, 2)))
    wanted = PREFERENCES[:-1] if void is False else PREFERENCES
    removed = draw(st.sets(st.sampled_from(LEAVES), max_size=9))
    chosen = draw(st.lists(st.sampled_from(wanted), max_size=3, unique=True))
    rows = draw(st.sampled_from(Rows))
    return Policy(
        privacy,
        draw(st.integers(0, privacy - 1)),
        tuple(chosen),
        rows,
        draw(st.sampled_from(OnExcess)),
        draw(st.sampled_from(Precision)),
        decoys=rows is Rows.KEEP and PREFERENCES[-1] not in chosen and draw(st.booleans()),
        private=draw(st.booleans()),
        protection=Protection(draw(st.sampled_from((5.0, 7.5, 15.0)))),
        black_list=(ListedCells(tuple(sorted(removed))),) if removed else (),
    )


@settings(max_examples=300)
@given(policies(), st.sampled_from(LEAVES))
def test_whatever_the_policy_what_is_reported_keeps_what_is_said(policy, real_leaf):
    require_kept(policy, real_leaf, quick_forest)


@pytest.mark.slow
@settings(max_examples=100)
@given(policies(), st.sampled_from(LEAVES))
def test_on_what_an_honest_server_generates_too(policy, real_leaf):
    require_kept(policy, real_leaf, optimal_forest)


def nobody_answers(_public_map, _request):
    raise Unreachable("nobody answers")


@settings(max_examples=100)
@given(policies(), st.sampled_from(LEAVES))
def test_without_a_server_too_if_the_policy_allows_it(policy, real_leaf):
    require_kept(replace(policy, on_unreachable="universal"), real_leaf, nobody_answers)


@pytest.mark.parametrize("failure", [Unreachable, NotReady, NotOffered, AnswerRefused])
def test_without_a_forest_nothing_is_drawn_unless_the_policy_says_so(failure):
    def refused(_public_map, _request):
        raise failure("no forest today")

    policy = Policy(1, 0, (Preference("even", "=", True),))
    device = device_on(MAP, refused)
    with pytest.raises(failure):
        obfuscate(Whereabouts(LEAVES[0]), policy, device)
    assert device.memory.asked == []
    allowed = replace(policy, on_unreachable="universal")
    if failure is AnswerRefused:  # an answer that is not believed is no absence
        with pytest.raises(failure):
            obfuscate(Whereabouts(LEAVES[0]), allowed, device)
        return
    found = obfuscate(Whereabouts(LEAVES[0]), allowed, device)
    assert found.guarantee.holds
    assert found.customised.leaves.column_cells == LEAVES[0:7:2]


def require_kept(policy: Policy, real_leaf: str, make) -> None:
    device = device_on(MAP, make, KNOWN)
    try:
        found = obfuscate(Whereabouts(real_leaf), policy, device)
    except (PolicyNotMet, InvalidPolicy, NotReported) as refusal:
        event(type(refusal).__name__)
        assert device.memory.asked == [] or policy.voids_geo_ind
        return
    event(f"{found.customised.selection.mechanism}, {policy.rows}, {policy.precision}")
    require_right_cells(found, policy, real_leaf)
    require_true_guarantee(found, policy)
    assert found.given.balance.draws == 1


def require_right_cells(found: Obfuscated, policy: Policy, real_leaf: str) -> None:
    report, matrix = found.report, found.customised.leaves
    assert report.level == policy.precision_level
    resolution = MAP.leaf_resolution - policy.privacy_level
    assert cells.ancestor(report.cell, resolution) == cells.ancestor(real_leaf, resolution)
    selection = found.customised.selection
    assert not selection.never_reported.intersection(matrix.column_cells)
    assert selection.removal.removed <= selection.never_reported
    assert any(
        report.cell == cells.ancestor(leaf, MAP.leaf_resolution - report.level)
        for leaf in matrix.column_cells
    )
    assert real_leaf in matrix.row_cells
    if policy.rows is Rows.KEEP:
        assert matrix.row_cells == found.customised.subtree.leaves
    if selection.set_aside:
        assert policy.on_excess is OnExcess.FEWER


def require_true_guarantee(found: Obfuscated, policy: Policy) -> None:
    """Check the sentence with an auditor of its own: all pairs of leaves, 60 digits."""
    guarantee, reported = found.guarantee, found.customised.reported
    leaves = found.customised.leaves.row_cells
    assert (not guarantee.holds) <= bool(guarantee.exceptions)
    assert policy.precision is Precision.AVERAGE or guarantee.between_leaves_per_km <= (
        guarantee.promised_per_km
    )
    assert guarantee.void == policy.voids_geo_ind
    if len(leaves) > 7:  # the slow oracle takes its time
        return
    above = [cells.ancestor(leaf, cells.resolution_of(reported.row_cells[0])) for leaf in leaves]
    rows = reported.weights[[reported.row_cells.index(cell) for cell in above]]
    needed = slow_audit(rows, distances.between_cells(leaves), 1.0).smallest
    assert needed <= Decimal(guarantee.between_leaves_per_km)
    assert needed > Decimal(math.nextafter(guarantee.between_leaves_per_km, 0)) or needed == 0


def reported(policy: Policy, real_leaf: str, **more) -> Obfuscated:
    return obfuscate(Whereabouts(real_leaf), policy, device_on(MAP, known=KNOWN), **more)


REMOVED_HOME = Policy(1, 0, (Preference("home", "=", False),))


def test_what_the_server_hears_is_the_same_bytes_wherever_the_user_is():
    crowded = (ListedCells(LEAVES[:6]),)
    for policy in (REMOVED_HOME, Policy(1, 0, black_list=crowded), Policy(2, 1, PREFERENCES[-1:])):
        heard = set()
        for real_leaf in LEAVES[::4]:
            device = device_on(MAP, known=KNOWN)
            obfuscate(Whereabouts(real_leaf), policy, device)
            heard.add(tuple(encode_request(request) for request in device.forests.asked))
        assert len(heard) == 1
        assert len(heard.pop()) == 1


def test_a_place_outside_of_the_map_is_refused_after_the_same_request():
    device = device_on(MAP, known=KNOWN)
    with pytest.raises(OutsideTree):
        obfuscate(Whereabouts((48.85, 2.35)), REMOVED_HOME, device)
    assert len(device.forests.asked) == 1
    assert device.memory.asked == []


def test_who_stands_in_a_removed_place_is_hidden_among_others_or_told_of_her_silence():
    home = LEAVES[9]
    kept = reported(REMOVED_HOME, home)
    assert home in kept.customised.leaves.row_cells
    assert home not in kept.customised.leaves.column_cells
    device = device_on(MAP, known=KNOWN)
    with pytest.raises(NotReported, match="observe this silence") as refusal:
        obfuscate(Whereabouts(home), replace(REMOVED_HOME, rows=Rows.DROP), device)
    assert home not in str(refusal.value)
    assert device.memory.asked == []  # nothing is drawn, nothing is charged


def test_coarser_audiences_get_the_ancestor_of_the_same_leaf():
    policy = Policy(2, 0, recipients={"weather-service": Recipient(1)})
    assert reported(policy, LEAVES[0]).report.level == 0
    assert reported(policy, LEAVES[0], recipient="weather-service").report.level == 1


def test_averaging_is_charged_what_it_truly_keeps_and_says_so():
    policy = Policy(2, 1, precision="average")
    device = device_on(MAP, known=KNOWN)
    found = obfuscate(Whereabouts(LEAVES[0]), policy, device)
    (terms,) = device.memory.asked
    assert not terms.remembered
    assert terms.epsilon_per_km == found.guarantee.between_leaves_per_km > 5.0
    assert not found.guarantee.holds
    assert "averaging rows keeps" in found.guarantee.exceptions[0]
    assert found.customised.reported.row_cells == tuple(ROOTS)
    coarsened = reported(replace(policy, precision="coarsen"), LEAVES[0])
    assert coarsened.guarantee.holds
    assert coarsened.guarantee.exceptions == ()


def test_what_averaging_costs_is_the_same_in_every_subtree():
    policy = Policy(1, 0, (Preference("even", "=", True),), precision="average")
    costs = set()
    for real_leaf in LEAVES[::7]:
        device = device_on(MAP, known=KNOWN)
        obfuscate(Whereabouts(real_leaf), policy, device)
        costs.add(device.memory.asked[0].epsilon_per_km)
    assert len(costs) == 1


def test_of_a_replay_no_more_is_said_than_its_draw_keeps(tmp_path):
    where, loose = Whereabouts(LEAVES[0]), Policy(1, 0, protection=Protection(15.0))
    with Ledger(tmp_path) as ledger:
        device = replace(device_on(MAP), memory=ledger)
        assert obfuscate(where, loose, device).guarantee.holds
        replayed = obfuscate(where, Policy(1, 0), device).guarantee
        assert not replayed.holds
        assert replayed.between_leaves_per_km == 15.0
        assert "drawn before, at 15 per km" in replayed.exceptions[0]
        assert obfuscate(where, Policy(1, 0), device, anew=True).guarantee.holds
        assert obfuscate(where, loose, device).guarantee.holds


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (Policy(1, 0), "within a subtree of a lower privacy level"),
        (Policy(2, 0, rows=Rows.DROP), "for places outside of what was removed then"),
    ],
)
def test_of_a_replay_from_a_smaller_area_or_for_fewer_places_that_is_said(tmp_path, before, said):
    where, wide = Whereabouts(LEAVES[0]), Policy(2, 0)
    with Ledger(tmp_path) as ledger:
        device = replace(device_on(MAP), memory=ledger)
        drawn = obfuscate(where, before, device)
        replayed = obfuscate(where, wide, device)
        assert replayed.report.cell == drawn.report.cell
        assert not replayed.guarantee.holds
        assert said in replayed.guarantee.exceptions[0]
        assert obfuscate(where, before, device).guarantee.holds
        assert obfuscate(where, wide, device, anew=True).guarantee.holds
        assert obfuscate(where, before, device).guarantee.holds  # more than was asked for


def test_the_settled_leaf_is_the_one_that_is_reported_from():
    point = cells.centre(LEAVES[0])
    asked = []

    def settle(near):
        asked.append(near)
        return LEAVES[20]

    device = replace(device_on(MAP, known=KNOWN), settle=settle)
    found = obfuscate(Whereabouts(point), Policy(1, 0), device)
    assert found.customised.subtree.root == ROOTS[2]
    assert asked[0][0] == LEAVES[0]
    elsewhere = replace(device, settle=lambda _: cells.cell_at(48.85, 2.35, MAP.leaf_resolution))
    with pytest.raises(OutsideTree):
        obfuscate(Whereabouts(point), Policy(1, 0), elsewhere)


def test_a_policy_that_looks_at_the_user_reports_without_a_guarantee():
    device = device_on(MAP, known=KNOWN)
    found = obfuscate(Whereabouts(LEAVES[0]), Policy(2, 0, PREFERENCES[-1:]), device)
    assert device.memory.asked[0].apart
    assert found.guarantee.void
    assert not found.guarantee.holds
    assert "void" in found.guarantee.exceptions[0]


def test_terms_carry_the_budget_and_all_that_is_never_reported():
    wished = Budget(48.0, 20.0, "repeat")
    policy = replace(REMOVED_HOME, budget=wished, decoys=True)
    device = device_on(MAP, known=KNOWN)
    found = obfuscate(Whereabouts(LEAVES[0]), policy, device, "someone", anew=True)
    (terms,) = device.memory.asked
    assert terms.removed == found.customised.selection.never_reported > {LEAVES[9]}
    assert (terms.recipient, terms.anew, terms.remembered) == ("someone", True, True)
    assert terms.budget == wished


def test_a_matrix_that_fails_its_audit_after_pruning_reports_nothing(monkeypatch):
    monkeypatch.setattr(
        preparation,
        "accept",
        lambda content, *_: Accepted(forest_from_bytes(content), "not checked"),
    )
    identity = np.full((7, 7), 1, dtype=np.uint64)
    np.fill_diagonal(identity, 2**62 - 6)

    def hostile(public_map, request):
        forest = quick_forest(public_map, request)
        matrices = {r: replace(m, weights=identity) for r, m in forest.matrices.items()}
        return replace(forest, matrices=matrices)

    device = device_on(MAP, hostile, KNOWN)
    with pytest.raises(NotPrivate, match="nothing is reported"):
        obfuscate(Whereabouts(LEAVES[0]), REMOVED_HOME, device)
    assert device.memory.asked == []


def test_a_universal_mechanism_that_fails_in_one_subtree_reports_nothing_from_any(monkeypatch):
    made = customising.exponential_matrix

    def failing(leaves, table, epsilon):
        return made(leaves, table, 2 * epsilon if leaves[0] == LEAVES[-7] else epsilon)

    monkeypatch.setattr(customising, "exponential_matrix", failing)
    device = device_on(MAP, nobody_answers)
    policy = Policy(1, 0, on_unreachable="universal")
    for real_leaf in (LEAVES[0], LEAVES[-1]):
        with pytest.raises(NotPrivate):
            obfuscate(Whereabouts(real_leaf), policy, device)
    assert device.memory.asked == []
