"""Find where everything that the paper numbers is at home, and write docs/paper-map.md.

    python docs/paper_map.py            write the page
    python docs/paper_map.py --check    say whether the page is as it should be

An item is at home in the modules of ``src`` that name it by its label or its number. Its tests are
those that name it too, and those that mirror its modules; its experiments are the laboratory's
modules that name it or use one of its modules.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "paper-map.md"
ITEMS = REPOSITORY / "docs" / "paper_items.toml"
LAB = "src/geocorgi/lab"
DEMO = "src/geocorgi/demo"
EVERY_EXPERIMENT = r"tests/lab/test_run\.py"
NUMBERED = re.compile(r"(Eq|Def|Prop|Theorem|Lemma|Algorithm|Alg)\b")
HEADER = """\
# The paper, item by item

*Made by `make paper-map` from what the sources say of themselves; do not edit.*

P. Pappachan, C. Qiu, A. Squicciarini, V. S. Hunsur Manjunath: *User Customizable and Robust
Geo-Indistinguishability for Location Privacy*. Numbers and labels are the paper's; the words are
ours. A module that departs from the paper says so on the line that does.

| paper | what it says | module | tests | experiment |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One numbered thing of the paper."""

    label: str
    name: str
    says: str
    spoken: tuple[str, ...] = ()
    instead: str = ""

    @property
    def numbers(self) -> tuple[str, ...]:
        """The ways to write its number: Eq. (3) and Eq. 3, Algorithm 1 and Alg. 1."""
        found = [part for part in self.name.split(", ") if NUMBERED.match(part)]
        found += [part.replace("(", "").replace(")", "") for part in found if "(" in part]
        found += [part.replace("Algorithm", "Alg.") for part in found if "Algorithm" in part]
        return tuple(found)

    def is_named_in(self, text: str) -> bool:
        """Return whether the text speaks of this item, as a whole word."""
        names = (self.label, *self.numbers, *self.spoken)
        if not any(name in text for name in names):
            return False
        said = "|".join(map(re.escape, names))
        return bool(re.search(rf"(?<![\w:])(?:{said})(?![\w:-])", text))


def items() -> list[Item]:
    """Return what the paper numbers, in its order."""
    listed = tomllib.loads(ITEMS.read_text(encoding="utf-8"))["item"]
    return [Item(**entry | {"spoken": tuple(entry.get("spoken", ()))}) for entry in listed]


@cache
def sources(folder: str) -> tuple[tuple[str, str], ...]:
    """Return every Python file below the folder, by its path in the repository, with its text."""
    paths = sorted((REPOSITORY / folder).rglob("*.py"))
    return tuple(
        (path.relative_to(REPOSITORY).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
    )


@cache
def homes(item: Item) -> list[str]:
    """Return the modules that are about the item."""
    found = [path for path, text in sources("src/geocorgi") if item.is_named_in(text)]
    return [path for path in found if not path.startswith((LAB, DEMO))]


@cache
def tests(item: Item) -> list[str]:
    """Return the tests that are about the item, or about a module that is."""
    mirrors = [_mirror(path) for path in homes(item)]
    if not mirrors:  # an experiment of the paper
        mirrors = [EVERY_EXPERIMENT, *(_mirror(path) for path in experiments(item))]
    return [
        path
        for path, text in sources("tests")
        if not path.startswith("tests/house/")  # which speak of numbers, and of no item
        if item.is_named_in(text) or any(re.fullmatch(mirror, path) for mirror in mirrors)
    ]


@cache
def experiments(item: Item) -> list[str]:
    """Return the laboratory's modules that are about the item, or measure what is."""
    measured = re.compile("|".join(rf"^from {_dotted(path)} import" for path in homes(item)), re.M)
    return [
        path
        for path, text in sources(LAB)
        if item.is_named_in(text) or (homes(item) and measured.search(text))
    ]


def page() -> str:
    """Return the page."""
    return HEADER + "".join(_row(item) for item in items())


def write(*_: Any) -> None:
    """Write the page."""
    text = page()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")


def _dotted(path: str) -> str:
    """Return a module's name, as a pattern."""
    return re.escape(path.removeprefix("src/").removesuffix(".py").replace("/", "."))


def _mirror(path: str) -> str:
    """Return the pattern of the tests of a module: its name, and what about it."""
    room, _, name = path.removeprefix("src/geocorgi/").rpartition("/")
    name = name.removesuffix(".py")
    return rf"tests/{room}/test_{name}(_\w+)?\.py" if room else rf"tests/test_{name}\.py"


def _row(item: Item) -> str:
    found = (("",) * 3) if item.instead else (homes(item), tests(item), experiments(item))
    beside = ("src/geocorgi/", "tests/", f"{LAB}/")
    cells = [f"{item.name} `{item.label}`", item.says, *map(_names, found, beside)]
    if item.instead:
        cells[2] = item.instead
    return f"| {' | '.join(cells)} |\n"


def _names(paths: list[str], beside: str) -> str:
    return ", ".join(f"`{path.removeprefix(beside)}`" for path in paths) or "–"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    write()
