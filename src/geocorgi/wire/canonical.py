"""One value, one sequence of bytes: canonical JSON, and the strict reading of it.

Canonical means sorted keys, no blanks, ASCII only, numbers as Python writes them (the shortest
digits that give the same double back), no infinities. What is read must be canonical itself, so
that equal messages have equal digests and nobody can hide a difference in how a message is spelled.

Nothing is parsed before its size is bounded, and every field is asked for by name and type: an
unknown field, a lacking one or one of another type is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from geocorgi.errors import InvalidMessage

Value = TypeVar("Value")
Fields = Mapping[str, Any]


def encoded(fields: Fields) -> bytes:
    """Return the canonical bytes of a JSON object."""
    text = json.dumps(
        fields, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True
    )
    return text.encode("ascii")


def decoded(content: bytes, most_bytes: int, what: str) -> dict[str, Any]:
    """Return the JSON object in canonical bytes, or refuse them."""
    if len(content) > most_bytes:
        raise InvalidMessage(f"{what} has at most {most_bytes:,} bytes, not {len(content):,}")
    try:
        fields = json.loads(content.decode("ascii"))
    except (ValueError, RecursionError):
        raise InvalidMessage(f"{what} is not JSON in ASCII") from None
    if not isinstance(fields, dict):
        raise InvalidMessage(f"{what} is not a JSON object")
    try:
        canonical = encoded(fields)
    except (ValueError, RecursionError):  # NaN and the infinities, which JSON does not have
        raise InvalidMessage(f"{what} holds a number that is not finite") from None
    if canonical != content:
        raise InvalidMessage(
            f"{what} is not in canonical form: sorted keys, no blanks, each key once"
        )
    return fields


def require_fields(fields: Any, names: Mapping[str, Callable[[Any], bool]], what: str) -> Fields:
    """Return the object if it has exactly these fields, each as its judge wants it."""
    if not isinstance(fields, dict):
        raise InvalidMessage(f"{what} is not a JSON object")
    if unknown := len(fields.keys() - names.keys()):
        raise InvalidMessage(f"{what} has {unknown} fields that this version does not know")
    if lacking := sorted(names.keys() - fields.keys()):
        raise InvalidMessage(f"{what} lacks {', '.join(lacking)}")
    for name, judge in names.items():
        if not judge(fields[name]):
            raise InvalidMessage(f"{what}: '{name}' is not of the type that it has to be")
    return fields


def message(
    content: bytes, most_bytes: int, version: str, names: Mapping[str, Callable[[Any], bool]]
) -> Fields:
    """Return the fields of a message of this version, or refuse the bytes."""
    what = f"a {version.removeprefix('geocorgi ').rpartition(' ')[0]}"
    fields = decoded(content, most_bytes, what)
    if fields.get("format") != version:
        raise InvalidMessage(f"{what} of this version says '{version}'")
    return require_fields(fields, names, what)


def require_same(value: Value, written: bytes, content: bytes, what: str) -> Value:
    """Return the value that was read if it is written as the bytes that it was read from."""
    if written != content:
        raise InvalidMessage(f"{what} is not spelled as one is: its digest would not be its name")
    return value


def digest(content: bytes) -> str:
    """Return the name by content: the SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def is_text(value: Any) -> bool:
    """Return whether this is a text."""
    return isinstance(value, str)


def is_text_or_none(value: Any) -> bool:
    """Return whether this is a text or nothing."""
    return value is None or isinstance(value, str)


def is_whole(value: Any) -> bool:
    """Return whether this is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_whole_or_none(value: Any) -> bool:
    """Return whether this is a whole number or nothing."""
    return value is None or is_whole(value)


def is_real(value: Any) -> bool:
    """Return whether this is a number with a decimal point, as canonical JSON writes doubles."""
    return isinstance(value, float)


def is_list(value: Any) -> bool:
    """Return whether this is a list."""
    return isinstance(value, list)


def is_object(value: Any) -> bool:
    """Return whether this is an object."""
    return isinstance(value, dict)


def is_list_or_none(value: Any) -> bool:
    """Return whether this is a list or nothing."""
    return value is None or isinstance(value, list)


def is_object_or_none(value: Any) -> bool:
    """Return whether this is an object or nothing."""
    return value is None or isinstance(value, dict)
