"""Everything that the paper numbers has its home, its test, and its line in the map."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest

from tests.conftest import REAL_DATA, REPOSITORY


def load():
    spec = importlib.util.spec_from_file_location("paper_map", REPOSITORY / "docs" / "paper_map.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PAPER = REAL_DATA.parent / "paper" / "corgi.tex"
paper_map = load()
ITEMS = paper_map.items()


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.label)
def test_an_item_has_a_home_and_a_test(item):
    if item.instead:
        return
    is_experiment = item.label.startswith("fig:experiment")
    assert paper_map.experiments(item) if is_experiment else paper_map.homes(item)
    assert paper_map.tests(item)


def test_an_item_is_found_by_its_label_and_by_its_number():
    item = paper_map.Item("eq:own", "Eq. (1), Algorithm 2", "says")
    for text in ("eq:own", "Eq. (1),", "(Eq. 1)", "Alg. 2.", "Algorithm 2"):
        assert item.is_named_in(text), text
    for text in ("Eq. 12", "eq:own_2", "Algorithm 21", "xeq:own"):
        assert not item.is_named_in(text), text


def test_the_page_names_every_item_and_only_what_exists():
    page = (REPOSITORY / "docs" / "paper-map.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| ")][2:]
    assert len(rows) == len(ITEMS)
    for row, item in zip(rows, ITEMS, strict=True):
        assert row.startswith(f"| {item.name} `{item.label}` |")
        _, _, _, modules, tests, experiments, _ = row.split("|")
        beside = (("src/geocorgi", modules), ("tests", tests), (paper_map.LAB, experiments))
        for folder, cell in beside if not item.instead else ():
            for path in re.findall(r"`([^`]+\.py)`", cell):
                assert (REPOSITORY / folder / path).exists(), f"{item.label}: {path}"


def test_the_page_is_as_it_is_made():
    page = (REPOSITORY / "docs" / "paper-map.md").read_text(encoding="utf-8")
    assert page == paper_map.page(), "the page is older than the sources: make paper-map"


@pytest.mark.skipif(not PAPER.exists(), reason="the paper is not beside the repository")
def test_nothing_that_the_paper_labels_is_missing():
    text = PAPER.read_text(encoding="utf-8")
    text = re.sub(r"\\DEL\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "", text)
    labels = set(re.findall(r"\\label\{((?:eq|equ|def|prop|lem|thm|fig|alg|Tb):?[^}]*)\}", text))
    struck_out = {
        "prop:convexity",
        "eq:geoI1m1",
        "eq:geoIm1M",
        "fig:experiment3",
        "fig:experiment4",
    }
    spoken = {name for item in ITEMS for name in (item.label, *item.spoken)}
    assert len(labels) > 40
    assert labels - struck_out <= spoken
