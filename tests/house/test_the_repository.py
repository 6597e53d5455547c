"""Rules of the house that a program can check."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

TRACKED = [
    REPOSITORY / name
    for name in subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    if name and (REPOSITORY / name).is_file()
]
TEXTS = [path for path in TRACKED if path.suffix not in {".gz", ".png", ".safetensors"}]
SOURCES = [
    path for path in TRACKED if path.is_relative_to(REPOSITORY / "src") and path.suffix == ".py"
]
LONGEST_MODULE = 400
LONGEST_FUNCTION = 60

pytestmark = pytest.mark.skipif(not TRACKED, reason="not a git checkout")


def test_no_file_names_an_absolute_path_of_a_machine():
    place = re.compile(r"(?<![\w.~:/])/(home|Users|root|work|opt)/[\w.-]+")
    found = [
        f"{path.name}: {line.strip()[:80]}"
        for path in TEXTS
        for line in path.read_text(encoding="utf-8").splitlines()
        if place.search(line) and path != Path(__file__)
    ]
    assert found == []


def test_no_requirement_names_an_index():
    locked = sorted((REPOSITORY / "requirements").iterdir())
    assert locked
    for path in locked:
        assert not re.search(
            r"https?:|file:|index-url|find-links", path.read_text(encoding="utf-8")
        )


def test_every_locked_requirement_is_pinned_and_hashed():
    for name in ("dev.txt", "demo.txt"):
        lines = (REPOSITORY / "requirements" / name).read_text(encoding="utf-8").splitlines()
        pinned = [line for line in lines if line and not line.startswith((" ", "#"))]
        assert pinned
        assert all("==" in line and line.endswith("\\") for line in pinned)


def test_modules_and_functions_stay_small():
    long = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONGEST_MODULE:
            long.append(f"{path.name}: {text.count(chr(10))} lines")
        long += [
            f"{path.name}: {node.name}"
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef)
            and node.end_lineno - node.lineno >= LONGEST_FUNCTION
        ]
    assert long == []


def test_the_error_tree_is_drawn_whole():
    source = (REPOSITORY / "src/geocorgi/errors.py").read_text(encoding="utf-8")
    drawing = ast.get_docstring(ast.parse(source))
    classes = [node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert [name for name in classes if not re.search(rf"\b{name}\b", drawing)] == []


def test_no_real_data_is_tracked():
    names = " ".join(path.name for path in TRACKED)
    assert "gowalla" not in names
    assert "aligned" not in names


def test_every_extra_is_declared():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert extras == {"server", "app", "lab", "cluster", "data", "dev"}


def test_the_package_ships_its_types():
    assert (REPOSITORY / "src/geocorgi/py.typed").is_file()
