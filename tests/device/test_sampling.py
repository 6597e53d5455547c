"""What is drawn is what the weights say."""

from __future__ import annotations

import numpy as np
import pytest

from geocorgi.device import sampling
from geocorgi.errors import InvalidMatrix
from geocorgi.matrix.sealed import SealedMatrix

CELLS = ("a", "b", "c")
MATRIX = SealedMatrix(("a", "b"), CELLS, 0, np.array([[1, 0, 3], [2, 2, 0]], dtype=np.uint64))


def test_every_ticket_finds_its_cell(monkeypatch):
    tickets = iter(range(4))
    monkeypatch.setattr(sampling.secrets, "randbelow", lambda _: next(tickets))
    assert [sampling.draw(MATRIX, "a") for _ in range(4)] == ["a", "c", "c", "c"]


def test_the_ticket_is_drawn_below_the_exact_total(monkeypatch):
    asked = []
    monkeypatch.setattr(sampling.secrets, "randbelow", lambda total: asked.append(total) or 0)
    large = SealedMatrix(("a",), CELLS, 0, np.full((1, 3), 2**62, dtype=np.uint64))
    sampling.draw(large, "a")
    assert asked == [3 * 2**62]


def test_frequencies_follow_the_row():
    # Exact binomial bound: 4,000 draws of chance 1/4 leave 1000 ± 165 once in a billion.
    drawn = [sampling.draw(MATRIX, "a") for _ in range(4_000)]
    assert drawn.count("b") == 0
    assert abs(drawn.count("a") - 1_000) <= 165


def test_a_missing_row_is_refused_without_naming_the_place():
    with pytest.raises(InvalidMatrix) as refusal:
        sampling.draw(MATRIX, "secret place")
    assert "secret" not in str(refusal.value)
