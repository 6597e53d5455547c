"""Find where everything that the paper numbers is at home, and write docs/paper-map.md.

    python docs/paper_map.py            write the page
    python docs/paper_map.py --check    say whether the page is as it should be

An item is at home in the modules of ``src`` that name it by its label or as it is spoken of. Its
tests are those that name it too, and those that mirror its modules.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "paper-map.md"
ITEMS = REPOSITORY / "docs" / "paper_items.toml"
LAB = "src/geocorgi/lab"
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

    def is_named_in(self, text: str) -> bool:
        """Return whether the text speaks of this item, as a whole word."""
        names = "|".join(re.escape(name) for name in (self.label, *self.spoken))
        return bool(re.search(rf"(?<![\w:])(?:{names})(?![\w:-])", text))


def items() -> list[Item]:
    """Return what the paper numbers, in its order."""
    listed = tomllib.loads(ITEMS.read_text(encoding="utf-8"))["item"]
    return [Item(**entry | {"spoken": tuple(entry.get("spoken", ()))}) for entry in listed]


def sources(folder: str) -> Iterator[tuple[str, str]]:
    """Yield every Python file below the folder, by its path in the repository, with its text."""
    for path in sorted((REPOSITORY / folder).rglob("*.py")):
        yield path.relative_to(REPOSITORY).as_posix(), path.read_text(encoding="utf-8")


def homes(item: Item) -> list[str]:
    """Return the modules that are about the item."""
    found = [path for path, text in sources("src/geocorgi") if item.is_named_in(text)]
    return [path for path in found if not path.startswith(LAB)]


def tests(item: Item) -> list[str]:
    """Return the tests that are about the item, or about a module that is."""
    mirrored = {_mirror(path) for path in homes(item)}
    return [path for path, text in sources("tests") if item.is_named_in(text) or path in mirrored]


def experiments(item: Item) -> list[str]:
    """Return the laboratory's modules that are about the item."""
    return [path for path, text in sources(LAB) if item.is_named_in(text)]


def page() -> str:
    """Return the page."""
    return HEADER + "".join(_row(item) for item in items())


def _mirror(path: str) -> str:
    room, _, name = path.removeprefix("src/geocorgi/").rpartition("/")
    return f"tests/{room}/test_{name}" if room else f"tests/test_{name}"


def _row(item: Item) -> str:
    where = item.instead or _names(homes(item), "src/geocorgi/")
    cells = (
        f"{item.name} `{item.label}`",
        item.says,
        where,
        _names(tests(item), "tests/"),
        _names(experiments(item), f"{LAB}/"),
    )
    return f"| {' | '.join(cells)} |\n"


def _names(paths: list[str], beside: str) -> str:
    return ", ".join(f"`{path.removeprefix(beside)}`" for path in paths) or "–"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
