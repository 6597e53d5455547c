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


def drawn_below(drawing: str) -> dict[str, str]:
    """Return each error of the drawing with the one that it hangs from."""
    above, found = {-1: "Exception"}, {}
    for line in drawing.splitlines():
        if branch := re.fullmatch(r"([│ ]*)[├└]── (\w+) .*", line):
            depth = len(branch[1]) // 4 - 1
            found[branch[2]] = above[depth]
            above[depth + 1] = branch[2]
        elif line.strip() == "GeocorgiError":
            found["GeocorgiError"] = above[-1]
            above[0] = "GeocorgiError"
    return found


def test_the_error_tree_is_drawn_as_it_is():
    source = ast.parse((REPOSITORY / "src/geocorgi/errors.py").read_text(encoding="utf-8"))
    classes = {
        node.name: node.bases[0].id for node in source.body if isinstance(node, ast.ClassDef)
    }
    assert drawn_below(ast.get_docstring(source)) == classes


def test_the_map_of_the_house_names_every_room_and_no_other():
    package = REPOSITORY / "src/geocorgi"
    said = re.findall(r"``geocorgi\.(\w+)``", (package / "__init__.py").read_text(encoding="utf-8"))
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert sorted(said) == sorted(rooms | modules)


def test_the_makefiles_help_names_every_target_and_no_other():
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z][a-z-]+)", text.partition("PYTHON ?=")[0]))
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split())
    targets = set(re.findall(r"^([a-z-]+):(?!=)", text, re.MULTILINE))
    assert targets == phony
    assert named | {"help"} == targets


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
