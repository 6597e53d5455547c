"""The check of the pins against a database of vulnerabilities, with a database of our own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY
from tests.device.network.loopback import answer, serving

PROGRAM = REPOSITORY / ".ci" / "advisories.py"

BODY_END = b"}]}"  # a server that hangs up on the rest of a question takes its answer with it


def checked(database: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROGRAM, "--database", database]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def pins() -> int:
    """Count the pins in another way than the program does."""
    lines = {
        line.split("==")[0] + line.split("==")[1].split()[0]
        for name in ("dev.txt", "demo.txt")
        for line in (REPOSITORY / "requirements" / name).read_text("utf-8").splitlines()
        if "==" in line.split(";")[0]
    }
    return len(lines)


def test_nothing_known_is_said_and_every_pin_was_asked_about():
    results = [{}] * pins()
    with serving(answer(json.dumps({"results": results}).encode()), until=BODY_END) as server:
        done = checked(server.url)
    assert done.returncode == 0, done.stdout
    assert done.stdout == f"0 of {pins()} pins have known vulnerabilities\n"


def test_what_is_known_is_named():
    results = [{"vulns": [{"id": "CVE-2"}, {"id": "CVE-1"}]}, *[{}] * (pins() - 1)]
    with serving(answer(json.dumps({"results": results}).encode()), until=BODY_END) as server:
        done = checked(server.url)
    assert done.returncode == 1
    assert ": CVE-1, CVE-2\n1 of " in done.stdout


@pytest.mark.parametrize(
    "said",
    [b"", b"<html>", b"{}", b'{"results": []}', b'{"results": [1, 2]}', b'{"results": 7}'],
)
def test_an_answer_that_is_none_is_no_clean_bill(said):
    with serving(answer(said), until=BODY_END) as server:
        done = checked(server.url)
    assert done.returncode == 3
    assert "could not be asked" in done.stdout
    assert "nothing is known about" in done.stdout


def test_a_database_out_of_reach_is_no_clean_bill():
    done = checked("http://127.0.0.1:1/")
    assert done.returncode == 3
    assert "Connection refused" in done.stdout
    assert done.stderr == ""
