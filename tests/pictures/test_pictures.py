"""Pictures say what the values say, and load nothing."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.pictures.drawing import Circle, Drawing
from geocorgi.pictures.ink import percent
from geocorgi.pictures.page import page
from geocorgi.pictures.picture import Picture
from geocorgi.pictures.png import png
from geocorgi.pictures.subjects import (
    picture_of_priors,
    picture_of_protection,
    picture_of_removal,
    picture_of_row,
    picture_of_tree,
)
from geocorgi.pictures.svg import svg
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors

SVG = "{http://www.w3.org/2000/svg}"
SEVEN = LocationTree("882830828dfffff", 1)
TREE = LocationTree("872830828ffffff", 2)


def parsed(text: str) -> ET.Element:
    """Return the picture's root; it is our own, so no parser need fear it."""
    return ET.fromstring(text)  # noqa: S314


def shades(text: str) -> dict[str, float]:
    """Return each cell's opacity, read off its path and its tooltip."""
    found = {}
    for path in parsed(text).iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None:
            found[title.text.split(",")[0]] = float(path.get("fill-opacity"))
    return found


def test_a_tree_shows_every_leaf_and_names_its_levels():
    text = svg(picture_of_tree(TREE).drawing)
    assert len(shades(text)) == 49
    assert re.findall(r">(level \d)<", text) == ["level 2", "level 1"]


@given(st.lists(st.floats(0, 1), min_size=7, max_size=7).filter(any))
def test_a_larger_share_is_never_drawn_lighter(weights):
    priors = Priors(SEVEN.leaves, np.array(weights))
    shade = shades(svg(picture_of_priors(priors).drawing))
    order = sorted(SEVEN.leaves, key=lambda cell: priors[cell])
    drawn = [shade[cell] for cell in order]
    assert drawn == sorted(drawn)
    assert drawn[-1] == 1.0


def test_a_row_shows_the_matrix_and_marks_the_real_cell():
    numbers = np.full((7, 7), 0.1) + 0.3 * np.eye(7)
    matrix = ObfuscationMatrix(SEVEN.leaves, SEVEN.leaves, 0, numbers)
    drawing = picture_of_row(matrix, SEVEN.leaves[2]).drawing
    assert drawing.shares[SEVEN.leaves[2]] == pytest.approx(0.4)
    assert drawing.marked == {SEVEN.leaves[2]: "here"}
    with pytest.raises(InvalidInput, match="no row"):
        picture_of_row(matrix, TREE.leaves[0])


def test_what_is_removed_is_hatched_with_its_reason_and_other_subtrees_are_left_out():
    removed = {SEVEN.leaves[0]: "home = False", "89283082803ffff": "elsewhere"}
    text = svg(picture_of_removal(SEVEN, removed).drawing)
    assert text.count('fill="url(#hatch)" pointer-events') == 1
    assert "home = False" in text
    assert ">never reported<" in text
    assert "elsewhere" not in text


def test_cells_that_were_pruned_from_a_row_are_hatched_and_the_user_may_be_in_one():
    rest = SEVEN.leaves[1:]
    matrix = ObfuscationMatrix(SEVEN.leaves, rest, 0, np.full((7, 6), 1 / 6))
    gone = SEVEN.leaves[0]
    drawing = picture_of_row(matrix, gone, {gone: "home"}).drawing
    assert set(drawing.cells) == set(SEVEN.leaves)
    assert gone in drawing.crossed
    assert drawing.marked == {gone: "here"}
    assert drawing.shares == pytest.approx(dict.fromkeys(rest, 1 / 6))


def test_a_scale_says_of_what_its_shares_are_and_in_which_unit():
    text = svg(picture_of_priors(Priors(SEVEN.leaves, np.arange(7.0))).drawing)
    assert ">share of visits, in %<" in text
    assert re.search(r">\d+ k?m<", text)


@pytest.mark.parametrize(
    ("share", "said"),
    [(1.0, "100"), (0.3812, "38"), (0.0234, "2.3"), (0.0, "0"), (3e-7, "<0.001"), (0.03, "3")],
)
def test_shares_are_said_with_two_digits(share, said):
    assert percent(share) == said


def test_a_picture_follows_the_readers_dark_ground():
    text = svg(picture_of_tree(SEVEN).drawing)
    assert "prefers-color-scheme: dark" in text
    for kind in ("sheet", "paper", "shade", "accent"):
        assert f".{kind} {{" in text
    assert 'class="paper"' in text
    assert 'class="paper"' not in page(picture_of_tree(SEVEN).drawing)


def test_the_circles_have_their_radii_to_scale():
    text = svg(picture_of_protection(TREE, 5.0, 0.5).drawing)
    drawn = [circle for circle in parsed(text).iter(f"{SVG}circle") if circle.get("cx") != "17"]
    circles = [float(circle.get("r")) for circle in drawn]
    assert [circle.get("stroke-dasharray") is None for circle in drawn] == [True, False]
    assert circles[0] / circles[1] == pytest.approx(np.log(4) / 5 / 0.5, rel=1e-2)


def test_the_same_value_is_drawn_in_the_same_bytes():
    assert svg(picture_of_tree(TREE).drawing) == svg(picture_of_tree(TREE).drawing)


@pytest.mark.parametrize("write", [svg, page])
def test_a_picture_loads_nothing_from_anywhere(write):
    text = write(picture_of_removal(SEVEN, {SEVEN.leaves[0]: "home"}).drawing)
    without_names = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|src=|href=|@import|<script", without_names)
    if write is page:
        assert "default-src 'none'" in text


@pytest.mark.parametrize("write", [svg, page])
def test_words_from_elsewhere_are_words_and_not_markup(write):
    hostile = '<script>alert(1)</script>"&'
    drawing = Drawing(
        hostile, hostile, SEVEN.leaves, crossed={SEVEN.leaves[0]: hostile},
        marked={SEVEN.leaves[1]: hostile}, circles=(Circle((0.0, 0.0), 1.0, hostile),),
    )  # fmt: skip
    assert "<script" not in write(drawing)


def test_a_page_says_the_same_as_a_table():
    drawing = picture_of_priors(Priors(SEVEN.leaves, np.arange(7.0))).drawing
    assert page(drawing).count("<tr><td>") == 7
    assert "28.57 %" in page(drawing)


def test_a_png_is_one_and_twice_the_size():
    image = png(picture_of_tree(SEVEN).drawing)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(image[16:20]) == 1280


def test_a_notebook_sees_the_svg():
    picture = picture_of_tree(SEVEN)
    assert picture._repr_svg_() == svg(picture.drawing)


def test_a_file_of_another_kind_is_refused_and_not_written(tmp_path):
    with pytest.raises(BadFile, match=r"\.svg, \.png, \.html"):
        picture_of_tree(SEVEN).save(tmp_path / "tree.gif")
    assert list(tmp_path.iterdir()) == []


def test_nothing_and_strangers_are_not_drawn():
    with pytest.raises(InvalidInput, match="one cell or more"):
        Drawing("", "", ())
    with pytest.raises(InvalidInput, match="does not show"):
        Picture(Drawing("", "", SEVEN.leaves, marked={TREE.leaves[0]: "x"}))
    with pytest.raises(InvalidInput, match="radius"):
        Circle((0.0, 0.0), 0.0, "")
    with pytest.raises(InvalidInput, match="at most"):
        picture_of_tree(LocationTree("8428309ffffffff", 5))
