"""A test whose component is missing skips with one line, and fails where nothing may be missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

PROGRAM = """
import pytest
@pytest.mark.needs("no-such-component")
def test_that_needs_it():
    assert True
"""


@pytest.mark.parametrize(("nothing_missing", "outcome"), [("", "1 skipped"), ("1", "1 error")])
def test_a_missing_component_skips_or_fails(tmp_path, nothing_missing, outcome):
    conftest = (REPOSITORY / "tests" / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(PROGRAM, encoding="utf-8")
    environment = os.environ | {"GEOCORGI_NOTHING_MISSING": nothing_missing}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", REPOSITORY / "pyproject.toml", "--rootdir", tmp_path,
         "-rs", tmp_path / "test_it.py"],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert outcome in run.stdout, run.stdout
    assert "no-such-component is missing: install it" in run.stdout
