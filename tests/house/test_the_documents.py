"""What the documents show is what happens."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import REPOSITORY
from tests.house.pages import run_page

README = REPOSITORY / "README.md"
FIGURE = REPOSITORY / "docs" / "figures" / "report.svg"
SHADED = re.compile(r'<path class="shade" d="([^"]+)".*?fill-opacity="([0-9.]+)"')


@pytest.fixture(scope="module")
def readme(tmp_path_factory):
    """Run the README once; lend what it printed and the folder that it ran in."""
    folder = tmp_path_factory.mktemp("readme")
    return run_page(README, folder), folder


def test_the_readmes_program_runs(readme):
    printed, _ = readme
    loss, bound, holds = printed.splitlines()[-2].split()
    assert float(bound) <= float(loss) < 0.15404
    assert holds == "True"


def test_the_readmes_picture_is_what_its_commands_draw(readme):
    _, folder = readme
    shown, drawn = (path.read_text(encoding="utf-8") for path in (FIGURE, folder / "report.svg"))
    assert SHADED.sub("", shown).count("<path") == SHADED.sub("", drawn).count("<path")
    cells, again = SHADED.findall(shown), SHADED.findall(drawn)
    assert len(cells) == 49
    assert [place for place, _ in cells] == [place for place, _ in again]
    for (_, before), (_, now) in zip(cells, again, strict=True):
        assert float(now) == pytest.approx(float(before), abs=0.1)  # no shade differs to the eye


def test_every_page_that_a_document_links_to_is_there():
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_decision_says_what_it_is_and_what_it_costs():
    numbers = []
    for page in sorted((REPOSITORY / "docs" / "adr").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        number = int(re.match(r"# (\d+)\. ", text).group(1))
        assert page.name.startswith(f"{number:04}-"), page.name
        for part in ("**Decision.**", "**Cost"):
            assert part in text, f"{page.name} has no {part}"
        numbers.append(number)
    assert len(set(numbers)) == len(numbers) >= 10


def test_every_decision_that_is_cited_was_taken():
    taken = {int(page.name[:4]) for page in (REPOSITORY / "docs" / "adr").glob("*.md")}
    for folder in ("src", "tests", "docs", "benchmarks"):
        for path in (REPOSITORY / folder).rglob("*.*"):
            if path.suffix in {".py", ".md"}:
                cited = re.findall(r"\bADR (\d+)", path.read_text(encoding="utf-8"))
                assert {int(number) for number in cited} <= taken, path.name


def test_every_file_that_a_text_names_by_its_path_is_there_or_is_made():
    made = (REPOSITORY / ".gitignore").read_text(encoding="utf-8").split()
    named = re.compile(r"(?<![\w/.{-])((?:docs|tests|benchmarks|src|deploy)/[\w/.-]+\.\w+)")
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    modules = [
        path
        for room in ("src", "tests", "benchmarks")
        for path in REPOSITORY.glob(f"{room}/**/*.py")
    ]
    for path in (*pages, *modules, REPOSITORY / "pyproject.toml", REPOSITORY / "Makefile"):
        for place in named.findall(path.read_text(encoding="utf-8")):
            there = (REPOSITORY / place).exists() or place in made
            assert there, f"{path.name} names {place}"


def test_no_docstring_speaks_of_s_between_bars_where_the_site_would_look_for_a_substitution():
    for path in (REPOSITORY / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                # What stands in double backquotes, or indented below a double colon, is literal.
                prose = re.sub(r"::\n\n(?: {4}.*\n|\n)+|``[^`]*``", "", text + "\n")
                assert not re.search(r"\|\w+\|", prose), f"{path.name}: write it as a literal"
