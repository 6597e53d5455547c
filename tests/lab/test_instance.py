"""Which places and targets the experiments are about, and where the check-ins come from."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.lab.city import city_of
from geocorgi.lab.experiment import Setting
from geocorgi.lab.instance import nearest_leaves, paper_leaves, random_targets, whole_groups
from geocorgi.tree.hex_graph import hex_graph, hops
from tests.lab.instances import city


@pytest.mark.parametrize("size", [7, 14, 28, 42, 49, 56, 70])
def test_whole_groups_are_in_one_piece_and_whole(size):
    leaves = whole_groups(city(), size)
    assert len(set(leaves)) == size
    assert np.isfinite(hops(hex_graph(leaves))).all()
    parents = {city().tree.ancestor(leaf, 1) for leaf in leaves}
    assert len(parents) == size // 7


def test_forty_nine_in_whole_groups_are_the_papers_own():
    assert whole_groups(city(), 49) == paper_leaves(city(), quick=False)


def test_other_numbers_are_refused_in_groups_and_taken_by_distance():
    with pytest.raises(InvalidInput, match="multiples of seven"):
        whole_groups(city(), 25)
    leaves = nearest_leaves(city(), 25)
    assert len(set(leaves)) == 25
    assert np.isfinite(hops(hex_graph(leaves))).all()


def test_targets_follow_from_the_seed():
    one = random_targets(city(), 1)
    assert one.cells == random_targets(city(), 1).cells
    assert one.cells != random_targets(city(), 2).cells
    assert len(set(one.cells)) == 49
    assert set(one.cells) <= set(city().tree.leaves)


def test_training_and_held_out_check_ins_are_nine_to_one():
    share = city().held_out.total / (city().held_out.total + city().priors.total)
    assert 0.08 < share < 0.12


def test_real_cities_are_read_by_path(real_data):
    found = city_of("san-francisco", Setting(data=real_data))
    assert found.priors.total + found.held_out.total == 14_883
    assert city_of("new-york", Setting(data=real_data)).priors.total > 40_000


def test_a_city_without_its_file_is_refused(tmp_path):
    with pytest.raises(BadFile, match="has no gowalla_sf"):
        city_of("san-francisco", Setting(data=tmp_path))
    with pytest.raises(InvalidInput, match="--data"):
        city_of("new-york", Setting())
    with pytest.raises(InvalidInput, match="no city"):
        city_of("atlantis", Setting())
