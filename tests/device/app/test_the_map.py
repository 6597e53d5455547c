"""The map's picture: every cell a named button, one scale for every eye, nothing unescaped."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from geocorgi.device.app.accuracy import accuracy_at
from geocorgi.device.app.job import Job
from geocorgi.device.app.map_drawing import map_svg, sheet_for
from geocorgi.device.app.names import bundled_names, nearest_name
from geocorgi.device.app.scene import (
    MOST_SHOWN,
    View,
    scene,
    shown_cells,
    spoken_names,
    two_circles,
)
from geocorgi.device.app.work import check, choose
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.pictures.drawing import Drawing
from geocorgi.tree import cells, distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors
from geocorgi.wire.public_map import PublicMap, Settings
from tests.device.app.sessions import MAP, door, new_session
from tests.wire.maps import LEAVES

HERE = LEAVES[20]


def parts(svg: str, **wanted: str):
    tree = ET.fromstring(svg)  # noqa: S314 - our own words
    found = [one for one in tree.iter() if "data-cell" in one.attrib]
    return tree, found


def test_every_cell_is_a_button_with_a_name_and_the_keyboard_comes_to_one():
    drawing = Drawing("Map", "of 49", LEAVES)
    _, buttons = parts(map_svg(drawing, {HERE: "here it is"}, HERE))
    assert len(buttons) == 49
    assert {one.get("role") for one in buttons} == {"button"}
    assert all(one.get("aria-label") for one in buttons)
    assert [one.get("data-cell") for one in buttons if one.get("tabindex") == "0"] == [HERE]


def test_what_is_said_is_escaped():
    evil = "\"><script>alert('x')</script>&"
    drawing = Drawing(evil, evil, LEAVES[:7], crossed={LEAVES[0]: evil}, marked={LEAVES[1]: evil})
    tree, buttons = parts(map_svg(drawing, dict.fromkeys(LEAVES, evil), LEAVES[0]))
    assert not [one for one in tree.iter() if one.tag.endswith("script")]
    assert buttons[0].get("aria-label") == evil


def test_a_larger_share_is_never_fainter_and_the_hue_says_nothing():
    shares = {leaf: place / 49 for place, leaf in enumerate(LEAVES)}
    svg = map_svg(Drawing("Map", "", LEAVES, shares), {}, HERE)
    _, buttons = parts(svg)
    strengths = [float(one.get("fill-opacity")) for one in buttons]
    assert strengths == sorted(strengths)
    assert strengths[0] == 0
    assert strengths[-1] == 1
    assert not re.search(r'fill="#|rgb\(', svg)


def test_nothing_is_loaded_and_north_is_up():
    svg = map_svg(Drawing("Map", "", LEAVES), {}, HERE)
    assert "href" not in svg
    assert set(re.findall(r"https?://[^\"]*", svg)) == {"http://www.w3.org/2000/svg"}
    sheet = sheet_for(LEAVES)
    (_, north), (_, south) = sheet.at([(37.8, -122.4), (37.7, -122.4)])
    assert north < south


def test_a_large_map_is_shown_coarsely_and_a_part_of_it_finely():
    root = "8428309ffffffff"
    tree = LocationTree(root, 5)
    leaves = tree.leaves
    large = PublicMap((root,), 5, Priors(leaves, np.ones(len(leaves))), Settings((5.0,)))
    shown = shown_cells(large, None)
    assert len(shown) == MOST_SHOWN
    assert set(shown_cells(large, shown[0])) == set(cells.descendants(shown[0], 9))


def test_the_heat_is_her_own_row_and_removed_cells_have_their_reasons(tmp_path):
    session = new_session(tmp_path)
    session.use_text(f"privacy_level = 2\nblack_list = ['{LEAVES[3]}']\n")
    session.go_to(Whereabouts(HERE))
    session.chosen = choose(door, session.origin, session.policy, MAP)(Job())
    session.checked = check(door, session.origin, session.policy, 0, session.real_leaf)(Job())
    drawing = scene(session, MAP, View())
    assert sum(drawing.shares.values()) == pytest.approx(1)
    assert drawing.shares[LEAVES[3]] == 0
    assert drawing.crossed == {LEAVES[3]: "black list: 1 cells (line 2)"}
    said = spoken_names(session, drawing, bundled_names())
    assert "never reported: black list" in said[LEAVES[3]]
    assert said[HERE].endswith("you")
    assert scene(session, MAP, View(heat=False)).shares is None


def test_levels_are_outlined(tmp_path):
    session = new_session(tmp_path)
    session.use_text("privacy_level = 2\nprecision_level = 1\n")
    outlined = scene(session, MAP, View()).outlined
    assert {cells.resolution_of(cell) for cell in outlined} == {7, 8}
    assert len(outlined) == 1 + 7


def test_the_circles_are_what_the_epsilon_means_and_the_measured_one_is_preferred(tmp_path):
    session = new_session(tmp_path)
    session.go_to(Whereabouts(HERE))
    guessed = accuracy_at(session, MAP, 6.0)
    assert guessed.epsilon_per_km == 5.0  # the next stricter on offer
    session.checked = check(door, session.origin, session.policy, 0, session.real_leaf)(Job())
    measured = accuracy_at(session, MAP, 6.0)
    assert "measured" in measured.how
    assert measured.accurate_km == pytest.approx(guessed.accurate_km, rel=1e-6)  # a quick forest
    first, second = two_circles(measured.middle, 5.0, measured.accurate_km)
    assert first.radius_km == pytest.approx(np.log(4) / 5)
    assert (first.dashed, second.dashed) == (False, True)


def test_a_name_is_that_of_the_nearest_place_and_of_none_far_away():
    names = bundled_names()
    assert nearest_name((37.7600, -122.4148), names) == "Mission"
    assert nearest_name((0.0, 0.0), names) is None
    assert len({place.name for place in names}) == len(names) > 100
    assert nearest_name((-90.0, 0.0), names) is None
    for place in names:
        point = (place.latitude, place.longitude)
        near = nearest_name(point, names)
        assert near == place.name or distances.haversine_km(*point, *where(near)) == 0


def where(name: str) -> tuple[float, float]:
    (place,) = (one for one in bundled_names() if one.name == name)
    return place.latitude, place.longitude
