"""What the threat model says is shown by a test is."""

from __future__ import annotations

import re

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "threat-model.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 10
    for path, test in named:
        source = (REPOSITORY / path).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{path}::{test}"
