"""What the documents tell a reader to do works, word for word."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.house.pages import blocks, run_page, script

DOCS = REPOSITORY / "docs"
PAGES = sorted([*DOCS.glob("tutorials/*.md"), *DOCS.glob("how-to/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page, tmp_path):
    assert list(blocks(page))
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
