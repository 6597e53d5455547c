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


def bits_of(*numbers: int) -> bytes:
    return np.array(numbers, dtype="<u8").tobytes()


def test_many_tickets_are_bits_below_the_total_and_drawn_again_where_they_are_not(monkeypatch):
    # Row a has total 4: two bits, none rejected; row b has total 5: three bits, 5 to 7 rejected.
    uneven = SealedMatrix(("a", "b"), CELLS, 0, np.array([[1, 0, 3], [2, 2, 1]], dtype=np.uint64))
    given = [bits_of(4 + 0, 1, 2, 3, 8 + 5, 2**63 + 4, 6), bits_of(7, 1), bits_of(5), bits_of(8)]
    asked = []

    def token_bytes(count: int) -> bytes:
        asked.append(count)
        return given.pop(0)

    monkeypatch.setattr(sampling.secrets, "token_bytes", token_bytes)
    columns = sampling.draw_many(uneven, np.array([0, 0, 0, 0, 1, 1, 1]))
    assert columns.tolist() == [0, 2, 2, 2, 0, 2, 0]
    assert asked == [56, 16, 8, 8]
    assert given == []


def test_many_draws_agree_with_one_at_a_time_for_every_ticket_of_large_rows(monkeypatch):
    weights = np.array([[2**62 - 7, 5, 2], [1, 2**61, 2**62]], dtype=np.uint64)
    large = SealedMatrix(("a", "b"), CELLS, 0, weights)
    for row, name in enumerate("ab"):
        ends = np.cumsum([int(weight) for weight in weights[row]], dtype=object)
        for ticket in (0, *(end + step for end in ends[:-1] for step in (-1, 0)), ends[-1] - 1):
            with monkeypatch.context() as patch:
                patch.setattr(sampling.secrets, "randbelow", lambda _, t=ticket: t)
                one = sampling.draw(large, name)
                patch.setattr(sampling.secrets, "token_bytes", lambda _, t=ticket: bits_of(t))
                (many,) = sampling.draw_many(large, np.array([row]))
            assert CELLS[many] == one


def test_many_draws_follow_their_rows():
    # Chi-squared with 9 degrees of freedom: above 56.5 once in a hundred million.
    weights = np.array([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [1] * 10], dtype=np.uint64)
    matrix = SealedMatrix(("a", "b"), tuple("abcdefghij"), 0, weights)
    drawn = sampling.draw_many(matrix, np.arange(400_000) % 2)
    for row in (0, 1):
        counts = np.bincount(drawn[row::2], minlength=10)
        expected = weights[row] / weights[row].sum() * 200_000
        assert ((counts - expected) ** 2 / expected).sum() < 56.5


def test_rows_whose_total_no_64_bits_hold_are_refused():
    large = SealedMatrix(("a",), CELLS, 0, np.full((1, 3), 2**62, dtype=np.uint64))
    with pytest.raises(InvalidMatrix, match="64 bits"):
        sampling.draw_many(large, np.array([0]))
