"""The reference names everything that there is, and nothing else."""

from __future__ import annotations

import importlib.util
import inspect
import re

import typer.main

from geocorgi.cli.main import app
from geocorgi.device import policy_file
from geocorgi.device.policy import WORDS, AtCeiling
from geocorgi.device.preferences import Operator, Unknown
from geocorgi.device.units import UNITS, Kind
from geocorgi.device.variables import WELL_KNOWN
from tests.conftest import REPOSITORY

POLICY = (REPOSITORY / "docs" / "reference" / "policy-file.md").read_text(encoding="utf-8")
TUPLE = re.compile(r"require_known\(\s*\(([^)]*)\)")


def keys_in_the_code() -> set[str]:
    """Return every key that the reader of policies lets pass."""
    inner = " ".join(TUPLE.findall(inspect.getsource(policy_file)))
    return {*policy_file.KEYS, *re.findall(r'"(\w+)"', inner)}


def keys_on_the_page() -> set[str]:
    """Return every key that the page defines: the words of its definition lists."""
    terms = re.findall(r"^(?:  )?(`[^\n]*)\n(?:  )?: ", POLICY, re.MULTILINE)
    named = {key for term in terms for key in re.findall(r"\[?(\w+)", term)}
    inline = re.findall(r"`(\w+)`", " ".join(re.findall(r"^: .*(?:\n  .*)*", POLICY, re.MULTILINE)))
    return named | set(inline)


def test_every_key_of_a_policy_is_on_the_page():
    assert len(keys_in_the_code()) > 30
    assert keys_in_the_code() - keys_on_the_page() == set()


def test_every_word_that_a_key_may_have_is_on_the_page():
    words = {str(word) for each in (*WORDS.values(), AtCeiling, Unknown, Kind) for word in each}
    words |= {str(operator) for operator in Operator} | set(UNITS) | set(WELL_KNOWN)
    assert [word for word in sorted(words) if word not in POLICY] == []


def test_no_key_is_invented_by_the_page():
    terms = re.findall(r"^(?:  )?((?:`\w+`,? ?)+)\n(?:  )?: ", POLICY, re.MULTILINE)
    defined = {key for term in terms for key in re.findall(r"`(\w+)`", term)}
    assert len(defined) > 20
    assert defined - keys_in_the_code() == set()


def commands_page():
    path = REPOSITORY / "docs" / "commands_page.py"
    spec = importlib.util.spec_from_file_location("commands_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_every_command_and_every_option_is_in_the_reference():
    page = commands_page()
    for name in ("geocorgi report", "geocorgi picture row", "geocorgi-server serve"):
        assert f"### {name}\n" in page
    report = typer.main.get_command(app).commands["report"]
    part = page.split("### geocorgi report\n")[1].split("\n### ")[0]
    options = [option for one in report.params for option in one.opts if option.startswith("--")]
    assert [option for option in options if f"`{option}`" not in part] == []
    assert "[bold]" not in page
