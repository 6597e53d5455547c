"""Values draw themselves in a notebook once it is told how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.pictures.notebook import load_ipython_extension, unload_ipython_extension
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import uniform_priors

TREE = LocationTree("882830828dfffff", 1)


@dataclass
class Formatter:
    """What IPython's formatter is to us: functions by type, None for "show the text"."""

    known: dict[type, Callable[[Any], str | None]] = field(default_factory=dict)

    def for_type(self, kind, function):
        self.known[kind] = function

    def pop(self, kind, default):
        return self.known.pop(kind, default)

    def shown(self, value):
        return self.known[type(value)](value)


class Notebook:
    """As much of IPython as is spoken to."""

    def __init__(self):
        self.display_formatter = self
        self.formatters = {"image/svg+xml": Formatter()}

    @property
    def svg(self):
        return self.formatters["image/svg+xml"]


@pytest.fixture
def notebook():
    lent = Notebook()
    load_ipython_extension(lent)
    return lent


@pytest.mark.parametrize(
    "value",
    [TREE, uniform_priors(TREE.leaves),
     ObfuscationMatrix(TREE.leaves, TREE.leaves, 0, np.full((7, 7), 1 / 7))],
    ids=["tree", "priors", "matrix"],
)  # fmt: skip
def test_a_value_is_shown_as_its_picture(notebook, value):
    assert notebook.svg.shown(value).startswith("<svg ")


def test_of_a_matrix_the_row_in_the_middle_is_shown(notebook):
    matrix = ObfuscationMatrix(TREE.leaves, TREE.leaves, 0, np.full((7, 7), 1 / 7))
    assert "from cell 892830828c3ffff, marked" in notebook.svg.shown(matrix)


def test_what_is_too_large_to_draw_is_shown_as_text(notebook):
    assert notebook.svg.shown(LocationTree("8428309ffffffff", 5)) is None


def test_it_is_undone(notebook):
    unload_ipython_extension(notebook)
    assert notebook.svg.known == {}
