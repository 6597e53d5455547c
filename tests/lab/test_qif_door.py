"""The door to qif: used where it is, said where it is not."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from geocorgi.errors import MissingExtra, SolverFailed
from geocorgi.generate.exact import exact
from geocorgi.lab import qif_door
from geocorgi.lab.beyond.peers import PEERS
from geocorgi.lab.experiment import where
from tests.lab.instances import QUICK, seven


class Stub(types.ModuleType):
    """Stands for qif where it is not installed: answers with our optimum, or fails."""

    def __init__(self, found, failing=()):
        super().__init__("qif")
        self.tried = []
        self.lp = types.SimpleNamespace(defaults=types.SimpleNamespace(solver=None))
        self.mechanism = types.SimpleNamespace(
            d_privacy=types.SimpleNamespace(min_loss_given_d=self.solve)
        )
        self.found, self.failing = found, failing

    def solve(self, _priors, _outputs, exponent, loss):
        self.tried.append(self.lp.defaults.solver)
        assert exponent(0, 1) > 0
        assert loss(0, 0) == 0
        if self.lp.defaults.solver in self.failing:
            raise RuntimeError
        return self.found


def test_other_solvers_are_tried_where_its_own_choice_fails(monkeypatch):
    problem = seven()
    stub = Stub(exact(problem).matrix.probabilities, failing=("AUTO", "GLOP"))
    monkeypatch.setitem(sys.modules, "qif", stub)
    found = qif_door.by_qif(problem)
    assert stub.tried == ["AUTO", "GLOP", "CLP"]
    assert found.evidence.method == "qif (CLP)"
    assert found.audit.holds


def test_it_says_that_none_succeeds(monkeypatch):
    monkeypatch.setitem(sys.modules, "qif", Stub(np.empty((0, 0)), failing=("GLOP",)))
    monkeypatch.setattr(qif_door, "has_qif", lambda: True)
    with pytest.raises(SolverFailed, match="none of its solvers"):
        qif_door.by_qif(seven())


def test_without_it_the_way_out_is_said_and_the_row_left_out(monkeypatch):
    monkeypatch.setattr(qif_door, "has_qif", lambda: False)
    with pytest.raises(MissingExtra, match="pip install qif"):
        qif_door.by_qif(seven())
    rows = PEERS.measure({"by": "qif", "installed": 0}, QUICK)
    assert where(rows, outcome="not installed") == rows
