"""In which line of a TOML file each key and each element of a list stands.

Python reads TOML and forgets the lines. Here the same text, known to be valid by then, is walked
once more for its keys alone; a path is made of keys and of positions in lists.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

Path = tuple[str | int, ...]
TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*) | (?P<newline>\n) | (?P<blank>[ \t\r]+)
    | (?P<string>\"{3}(?:\\.|[^\\])*?\"{3,5} | '{3}.*?'{3,5} | "(?:\\.|[^"\\\n])*" | '[^'\n]*')
    | (?P<mark>[\[\]{}=,.]) | (?P<bare>[^\s\[\]{}=,.\#"']+)""",
    re.VERBOSE | re.DOTALL,
)


def lines_of(text: str) -> Mapping[Path, int]:
    """Return the line of every key and element of a valid TOML text."""
    walk = _Walk(text)
    walk.whole()
    return walk.lines


class _Walk:
    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._tokens: list[tuple[str, str, int]] = []
        self._at = 0
        self._tables: dict[Path, int] = {}
        line = 1
        for token in TOKEN.finditer(text):
            kind, word = str(token.lastgroup), token[0]
            if kind not in ("comment", "blank"):
                self._tokens.append((kind, word, line))
            line += word.count("\n")

    def whole(self) -> None:
        """Walk statement by statement: the head of a table, or a key and its value."""
        table: Path = ()
        while self._at < len(self._tokens):
            kind, word, line = self._tokens[self._at]
            if kind == "newline":
                self._at += 1
            elif word == "[" and kind == "mark":
                table = self._head(line)
            else:
                self._pair(table)

    def _head(self, line: int) -> Path:
        listed = self._is_mark("[", 1)
        self._at += 2 if listed else 1
        table: Path = ()
        for key in self._key("]"):
            table = (*table, key)
            if table in self._tables:
                table = (*table, self._tables[table])
        self._at += 2 if listed else 1
        if listed:
            plain = table[:-1] if table and isinstance(table[-1], int) else table
            self._tables[plain] = self._tables.get(plain, -1) + 1
            table = (*plain, self._tables[plain])
        self._note(table, line)
        return table

    def _pair(self, table: Path) -> None:
        line = self._tokens[self._at][2]
        path = (*table, *self._key("="))
        self._at += 1
        self._note(path, line)
        self._value(path)

    def _key(self, end: str) -> list[str]:
        keys = []
        while not self._is_mark(end):
            kind, word, _ = self._tokens[self._at]
            if kind == "string":
                keys.append(str(tomllib.loads(f"key = {word}")["key"]))
            elif kind == "bare":
                keys.append(word)
            self._at += 1
        return keys

    def _value(self, path: Path) -> None:
        if self._is_mark("["):
            self._list(path)
        elif self._is_mark("{"):
            self._inline_table(path)
        else:
            while not self._ends_value():
                self._at += 1

    def _list(self, path: Path) -> None:
        self._at += 1
        place = 0
        while not self._is_mark("]"):
            if self._tokens[self._at][0] == "newline" or self._is_mark(","):
                self._at += 1
                continue
            self._note((*path, place), self._tokens[self._at][2])
            self._value((*path, place))
            place += 1
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while not self._is_mark("}"):
            if self._tokens[self._at][0] == "newline" or self._is_mark(","):
                self._at += 1
                continue
            self._pair(path)
        self._at += 1

    def _ends_value(self) -> bool:
        if self._at >= len(self._tokens):
            return True
        kind, word, _ = self._tokens[self._at]
        return kind == "newline" or (kind == "mark" and word in ",]}")

    def _is_mark(self, mark: str, ahead: int = 0) -> bool:
        return self._tokens[self._at + ahead][:2] == ("mark", mark)

    def _note(self, path: Path, line: int) -> None:
        """Keep the line of a path and, where they have none yet, of what is around it."""
        for end in range(1, len(path) + 1):
            self.lines.setdefault(path[:end], line)
