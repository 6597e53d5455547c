"""What the documents show is what happens."""

from __future__ import annotations

import re

from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_readmes_program_runs(capsys):
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})  # noqa: S102 - our own text
    loss, bound, holds = capsys.readouterr().out.splitlines()[0].split()
    assert float(bound) <= float(loss) < 0.15404
    assert holds == "True"


def test_every_page_that_a_document_links_to_is_there():
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
