"""The paper's own notation, read and written (Paper: §3.2).

``<privacy_l = 3, precision_l = 0, user_preferences = [popular = "True", distance ≤ 5 miles]>``

Operators come as Unicode or ASCII (``≤ <=``, ``≠ != <>``); truth with or without quotes; a distance
may say ``from`` where. Where something is wrong, its line is named, counted from ``first_line``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from geocorgi.device.policy import Policy
from geocorgi.device.preferences import Operator, Preference, Unknown, Value, refused_at
from geocorgi.device.units import SPELLINGS, UNITS
from geocorgi.errors import InvalidInput, InvalidPolicy

LONGEST = 100_000
ASCII = {"==": "=", "!=": "≠", "<>": "≠", "<=": "≤", ">=": "≥", "⩽": "≤", "⩾": "≥"}
PREDICATE = re.compile(
    r"""\s*(?P<variable>[A-Za-z][\w-]*) \s*(?P<operator>==|!=|<>|<=|>=|[=≠<>≤≥⩽⩾])\s*
    (?P<value>"[^"]*"|“[^”]*”|'[^']*'|[^\s"'=≠<>≤≥]+(?:\s+(?!from\s)[^\s"'=≠<>≤≥]+)?)
    (?:\s+from\s+(?P<origin>[a-z][\w-]*))?\s*""",
    re.VERBOSE,
)
NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)")
TRIPLE = re.compile(
    r"""\s*[<⟨]\s* privacy_l(?:evel)?\s*=\s*(?P<privacy>\d+)\s*,
    \s*precision_l(?:evel)?\s*=\s*(?P<precision>\d+)\s*,
    \s*(?:user_)?preferences\s*=\s*(?P<list>\[.*\])\s*[>⟩]\s*""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
QUOTES = {'"': '"', "“": "”", "'": "'"}


@dataclass(frozen=True, slots=True)
class Manner:
    """What a predicate's text does not say: where it stands, and how it is meant."""

    line: int | None = None
    unknown: Unknown | None = None
    private: bool = False


def is_notation(text: str) -> bool:
    """Return whether the text is the paper's notation and not TOML, which no bracket begins."""
    return text.lstrip().startswith(("<", "⟨"))


def parse_notation(text: str) -> Policy:
    """Return the policy that the paper's notation states."""
    found = TRIPLE.fullmatch(text[: LONGEST + 1])
    if len(text) > LONGEST or found is None:
        raise refused_at(
            1,
            "expected <privacy_l = 3, precision_l = 0, user_preferences = "
            '[popular = "True", distance ≤ 5 miles]>',
        )
    preferences = parse_preferences(found["list"], 1 + text.count("\n", 0, found.start("list")))
    try:
        return Policy(int(found["privacy"]), int(found["precision"]), preferences)
    except InvalidPolicy as refusal:
        if str(refusal).startswith("line "):
            raise
        line = 1 + text.count("\n", 0, found.start("precision"))
        raise refused_at(line, str(refusal)) from None


def parse_preferences(text: str, first_line: int | None = None) -> tuple[Preference, ...]:
    """Return the predicates of a list in brackets."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        raise refused_at(first_line, 'a list of preferences stands in brackets: [home = "False"]')
    found, line = [], first_line
    for part in _parts(text[text.index("[") + 1 : text.rindex("]")]):
        leading = len(part) - len(part.lstrip())
        here = None if line is None else line + part.count("\n", 0, leading)
        if part.strip():
            found.append(parse_preference(part.strip(), Manner(here)))
        line = None if line is None else line + part.count("\n")
    return tuple(found)


def parse_preference(text: str, manner: Manner = Manner()) -> Preference:
    """Return one predicate, such as ``distance ≤ 5 miles``."""
    found = PREDICATE.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        raise refused_at(
            manner.line, "a preference is a variable, one of = ≠ < > ≤ ≥, and a value: home = False"
        )
    value, unit = _value(found["value"], manner.line)
    return Preference(
        found["variable"].lower(),
        Operator(ASCII.get(found["operator"], found["operator"])),
        value,
        unit,
        unknown=manner.unknown,
        private=manner.private,
        origin=found["origin"],
        line=manner.line,
    )


def parse_quantity(text: str) -> tuple[float, str | None] | None:
    """Return a number and its unit in our spelling (or None); None where it is no number."""
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    if found[2] and found[2] not in SPELLINGS:
        raise InvalidInput(f"a unit is one of {', '.join(UNITS)}")
    return float(found[1]), SPELLINGS[found[2]].name if found[2] else None


def policy_notation(policy: Policy) -> str:
    """Return the triple of the policy; what the paper's notation cannot say is left out."""
    wanted = ", ".join(map(str, policy.preferences))
    return (
        f"<privacy_l = {policy.privacy_level}, precision_l = {policy.precision_level}, "
        f"user_preferences = [{wanted}]>"
    )


def _value(text: str, line: int | None) -> tuple[Value, str | None]:
    quoted = text[0] in QUOTES and text.endswith(QUOTES[text[0]])
    word = text[1:-1] if quoted else text
    if word.strip().casefold() in ("true", "false"):
        return word.strip().casefold() == "true", None
    if quoted:
        return word, None
    try:
        number = parse_quantity(text)
    except InvalidInput as refusal:
        raise refused_at(line, str(refusal)) from None
    if number is not None:
        return number
    if len(word.split()) > 1:
        raise refused_at(line, "a value of several words stands in quotes")
    return word, None


def _parts(text: str) -> list[str]:
    """Return what the commas outside of quotes separate."""
    return [
        part for part in re.findall(r"""((?:"[^"]*"|“[^”]*”|'[^']*'|[^,])*)(?:,|$)""", text) if part
    ]
