"""What the documents tell a reader to do works, word for word."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.house.console import is_as_shown, run
from tests.house.pages import (
    SHOWN_ONLY,
    blocks,
    go_on,
    goes_on_from,
    run_once,
    run_page,
    script,
)

DOCS = REPOSITORY / "docs"
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if any(block.language not in SHOWN_ONLY for block in blocks(page))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page, tmp_path, tmp_path_factory):
    assert list(blocks(page))
    shared = tmp_path_factory.getbasetemp().parent / "pages"
    if (before := goes_on_from(page)) is not None:
        go_on(run_once(before, shared), tmp_path)
        run_page(page, tmp_path)
    elif any(goes_on_from(other) == page for other in PAGES):
        run_once(page, shared)
    else:
        run_page(page, tmp_path)


def test_a_page_that_fails_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\ntrue\n```\n\n```sh\nfalse\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="does not run"):
        run_page(page, tmp_path)


def test_a_caption_makes_a_file_and_a_program_reads_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```{code-block} toml\n:caption: policy.toml\n\nlevel = 2\n```\n\n"
        "```python\nprint(open('policy.toml').read().strip())\n```\n\n"
        "```text\nnot run: exit 1\n```\n\n```sh\ncat policy.toml\n```\n",
        encoding="utf-8",
    )
    assert run_page(page, tmp_path) == "level = 2\nlevel = 2\n"


def test_what_a_command_prints_and_how_it_ends_is_compared():
    assert run("$ echo one two\none …\n$ false\n$ echo $?\n1\n") is None
    assert "prints" in run("$ echo one\ntwo\n")
    assert "ends with 1" in run("$ false\n")
    assert "ends with 0" in run("$ true\n$ echo $?\n1\n")
    assert run("$ echo one \\\n> two\none two\n") is None


def test_an_ellipsis_stands_for_a_part_of_a_line_or_for_lines():
    assert is_as_shown("a 1 b\nx\ny\nend\n", "a … b\n…\nend")
    assert is_as_shown("a\nend\n", "a\n…\nend")
    assert not is_as_shown("a\nb\nend\n", "a\nend")
    assert not is_as_shown("a 1 c\n", "a … b")


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="the page shows"):
        run_page(page, tmp_path)


def test_a_block_that_nobody_runs_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```json\n{}\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="nobody runs"):
        script(page)


def test_what_a_page_leaves_in_the_background_ends_with_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nsleep 600 &\necho $! > pid\n```\n", encoding="utf-8")
    run_page(page, tmp_path)
    process = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not is_running(process):
            return
        time.sleep(0.05)
    pytest.fail("the page's process outlived it")


def is_running(process: int) -> bool:
    """Return whether the process is there and not merely waiting to be buried."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
