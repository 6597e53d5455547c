"""The documents build offline, without a warning, and load nothing from anywhere."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data)\s*=\s*[\"'](?:https?:)?//"
    r"|<link\b(?=[^>]*\brel=\"(?:stylesheet|preload|icon|preconnect))[^>]*\bhref=\"(?:https?:)?//"
    r"|@import\s+(?:url\()?[\"']?(?:https?:)?//|url\([\"']?(?:https?:)?//",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--builder", "html"]
    built = subprocess.run(
        [*command, "--doctree-dir", str(folder / "trees"), "docs", str(folder / "html")],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr[-3000:]
    return folder / "html"


@pytest.mark.slow
def test_the_site_loads_nothing_from_anywhere(site):
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css", ".js"}]
    assert len(files) > 50
    found = [
        path.name
        for path in files
        if LOADED.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.slow
def test_the_site_tells_nothing_of_the_machine_that_built_it(site):
    for path in site.rglob("*"):
        if path.suffix in {".html", ".js", ".inv"}:
            assert str(REPOSITORY) not in path.read_text(encoding="utf-8", errors="replace"), path


@pytest.mark.slow
def test_every_public_module_has_its_page(site):
    modules = [
        ".".join(path.relative_to(REPOSITORY / "src").with_suffix("").parts)
        for path in (REPOSITORY / "src").rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    ]
    pages = {path.stem for path in (site / "reference" / "api").glob("*.html")}
    assert set(modules) <= pages


def test_what_is_looked_for_would_be_found():
    assert LOADED.search('<script async src="https://elsewhere.example/x.js">')
    assert LOADED.search('<link rel="stylesheet" href="//elsewhere.example/x.css">')
    assert LOADED.search("@import url(https://elsewhere.example/x.css)")
    assert not LOADED.search('<a href="https://elsewhere.example/">said, not loaded</a>')
