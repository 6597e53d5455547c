"""What all tests share: missing components and missing data are said, never passed over in CI."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent
REAL_DATA = REPOSITORY.parent / "shared" / "data"
HOW_TO_INSTALL = {
    "chromium": "apt-get install chromium",
    "nginx": "apt-get install nginx",
    "openssl": "apt-get install openssl",
    "wrk": "apt-get install wrk",
}

# Shared machines stall for a second now and then; deadlines would fail honest tests.
settings.register_profile("geocorgi", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("geocorgi")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose component is missing, in one line; where nothing may be missing, fail."""
    for mark in item.iter_markers("needs"):
        component = mark.args[0]
        if shutil.which(component):
            continue
        line = f"{component} is missing: {HOW_TO_INSTALL.get(component, 'install it')}"
        if os.environ.get("GEOCORGI_NOTHING_MISSING"):
            pytest.fail(line, pytrace=False)
        pytest.skip(line)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Lend the folder of real check-ins, which is never part of the repository."""
    if not REAL_DATA.is_dir():
        pytest.skip("the real check-ins are not beside the repository")
    return REAL_DATA
