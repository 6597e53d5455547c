"""The door to H3: one spelling for every cell, clear refusals, nothing private in a message."""

import math
import re

import h3
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geocorgi.errors import InvalidCell, InvalidInput
from geocorgi.tree import cells

SF = "86283082fffffff"
PENTAGON = "8009fffffffffff"
latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)


def test_an_upper_case_cell_is_the_same_cell() -> None:
    assert cells.require_cell(SF.upper()) == SF
    assert cells.ancestor(SF.upper(), 6) == SF
    assert cells.neighbours(SF.upper()) == cells.neighbours(SF)


@pytest.mark.parametrize(
    "spelling",
    [
        f" {SF}",
        f"{SF}\n",
        f"+{SF}",
        f"0{SF}",
        f"0x{SF}",
        SF[:-1],
        "86_3082fffffff",
        "",
        "８" * 15,
        "0" * 15,
        "f" * 15,
        "8" + "f" * 14,
    ],
)
def test_a_cell_has_no_other_spelling(spelling: str) -> None:
    with pytest.raises(InvalidCell, match="15 hexadecimal digits"):
        cells.require_cell(spelling)


@pytest.mark.parametrize("other", [None, 0x86283082FFFFFFF, SF.encode(), ["a"], 1.5, True])
def test_what_is_no_text_is_no_cell(other: object) -> None:
    with pytest.raises(InvalidCell, match=f"{type(other).__name__} is not an H3 cell"):
        cells.require_cell(other)  # type: ignore[arg-type]


@given(latitudes, longitudes)
def test_a_point_given_for_a_cell_is_not_repeated(latitude: float, longitude: float) -> None:
    text = f"{latitude:.3f},{longitude:.3f}"
    with pytest.raises(InvalidCell) as refusal:
        cells.require_cell(text)
    assert text not in str(refusal.value)
    assert f"length {len(text)}" in str(refusal.value)


@pytest.mark.parametrize("resolution", [True, False, 7.0, "7", None, math.nan])
def test_a_resolution_is_a_whole_number(resolution: object) -> None:
    with pytest.raises(InvalidInput, match="whole number"):
        cells.require_resolution(resolution)  # type: ignore[arg-type]


@pytest.mark.parametrize("resolution", [-1, 16, 10**100])
def test_h3_has_sixteen_resolutions(resolution: int) -> None:
    with pytest.raises(InvalidInput, match=r"from 0 .* to 15"):
        cells.require_resolution(resolution)
    for with_resolution in (cells.average_area_km2, cells.average_spacing_km):
        with pytest.raises(InvalidInput):
            with_resolution(resolution)


@pytest.mark.parametrize(
    "point",
    [
        (90.5, 0),
        (0, 180.5),
        (-122.4, 37.8),
        (math.nan, 0),
        (0, math.inf),
        ("here", 0),
        (None, 0),
        (10**400, 0),
        (0, -(10**400)),
        ((1, 2), 3),
    ],
)
def test_a_point_that_is_none_is_refused_without_repeating_it(point: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        cells.require_point(*point)
    # 90 and 180 are the borders of the globe: no other number stands in the sentence.
    assert set(re.findall(r"\d+", str(refusal.value))) <= {"90", "180"}


@given(latitudes, longitudes, st.integers(0, 15))
@example(90.0, 180.0, 15)
@example(-90.0, -180.0, 0)
@example(0.0, -0.0, 9)
def test_every_point_of_the_globe_has_a_cell(lat: float, lng: float, resolution: int) -> None:
    cell = cells.cell_at(lat, lng, resolution)
    assert cells.resolution_of(cell) == resolution
    assert cells.cells_at(np.array([lat]), np.array([lng]), resolution) == [cell]


@pytest.mark.parametrize(
    ("lats", "lngs"),
    [([0.0, math.nan], [0.0, 0.0]), ([91.0], [0.0]), ([0.0], [math.inf]), ([1.0, 2.0], [3.0])],
)
def test_many_points_are_refused_as_one_is(lats: list[float], lngs: list[float]) -> None:
    with pytest.raises(InvalidInput):
        cells.cells_at(np.array(lats), np.array(lngs), 9)


@given(latitudes, longitudes, st.integers(0, 15), st.integers(0, 15))
def test_ancestors_and_descendants_run_one_way(
    lat: float, lng: float, here: int, there: int
) -> None:
    cell = cells.cell_at(lat, lng, here)
    if there <= here:
        assert cells.resolution_of(cells.ancestor(cell, there)) == there
    else:
        with pytest.raises(InvalidCell, match="coarser") as refusal:
            cells.ancestor(cell, there)
        assert cell not in str(refusal.value)
    if there < here:
        for downwards in (cells.descendants, cells.descendant_count):
            with pytest.raises(InvalidCell, match="finer") as refusal:
                downwards(cell, there)
            assert cell not in str(refusal.value)


def test_a_hexagon_has_seven_children_and_a_pentagon_six() -> None:
    assert cells.is_pentagon(PENTAGON)
    assert [cells.descendant_count(PENTAGON, r) for r in (0, 1, 2, 3)] == [1, 6, 41, 286]
    assert [cells.descendant_count(SF, r) for r in (6, 7, 8, 9)] == [1, 7, 49, 343]
    assert sum(map(cells.is_pentagon, cells.descendants(PENTAGON, 2))) == 1


def test_a_hexagon_has_six_neighbours_and_a_pentagon_five() -> None:
    assert len(cells.neighbours(SF)) == 6
    assert len(cells.neighbours(PENTAGON)) == 5
    assert all(SF in cells.neighbours(cell) for cell in cells.neighbours(SF))


@given(latitudes, longitudes, st.integers(0, 15))
def test_the_centre_of_a_cell_lies_in_it(lat: float, lng: float, resolution: int) -> None:
    cell = cells.cell_at(lat, lng, resolution)
    assert cells.cell_at(*cells.centre(cell), resolution) == cell
    lats, lngs = cells.centres([cell])
    assert (lats[0], lngs[0]) == cells.centre(cell)


def test_no_cells_have_no_centres() -> None:
    lats, lngs = cells.centres([])
    assert lats.shape == lngs.shape == (0,)


def test_areas_of_a_level_add_up_to_about_the_parents_area() -> None:
    # Only about: the children overhang their parent here and fall short of it there.
    children = sum(map(cells.area_km2, cells.descendants(SF, 7)))
    assert children == pytest.approx(cells.area_km2(SF), rel=1e-3)
    globe = sum(map(cells.area_km2, h3.get_res0_cells()))
    assert globe == pytest.approx(4 * math.pi * 6371.00718**2, rel=1e-6)


def test_spacing_is_that_of_a_hexagonal_grid_of_that_area() -> None:
    # Cells of area a, all alike, stand sqrt(2a/√3) apart. H3's averages are those of unlike cells.
    for resolution in range(16):
        alike = math.sqrt(2 * cells.average_area_km2(resolution) / math.sqrt(3))
        assert cells.average_spacing_km(resolution) == pytest.approx(alike, rel=0.1)
