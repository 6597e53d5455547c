"""Ask the open database of vulnerabilities (osv.dev) about every pin of ``requirements``.

Exit codes: 0 nothing is known against any pin; 1 something is, and is named; 3 the database could
not be asked, so that nothing is known at all. Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"
DATABASE = "https://api.osv.dev/v1/querybatch"
SECONDS = 20
MOST_QUERIES = 1_000  # that the database takes at once
LARGEST_ANSWER_BYTES = 10_000_000
FOUND, NOT_ASKED = 1, 3


def main() -> int:
    """Ask, and say what came of it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--database", default=DATABASE, help="ask this address instead")
    database = options.parse_args().database
    pins = pinned(REQUIREMENTS.glob("*.txt"))
    try:
        known = advisories(pins, database)
    except (OSError, ValueError, KeyError, TypeError) as failure:
        why = getattr(failure, "reason", failure)
        print(f"{database} could not be asked ({why}): nothing is known about {len(pins)} pins")
        return NOT_ASKED
    for (name, version), names in known.items():
        print(f"{name} {version}: {', '.join(names)}")
    print(f"{len(known)} of {len(pins)} pins have known vulnerabilities")
    return FOUND if known else 0


def pinned(files: Iterable[Path]) -> list[tuple[str, str]]:
    """Return the names and versions that the files pin."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return sorted(set(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE)))


def advisories(pins: list[tuple[str, str]], database: str) -> dict[tuple[str, str], list[str]]:
    """Return what the database knows against each pin."""
    known = {}
    for start in range(0, len(pins), MOST_QUERIES):
        some = pins[start : start + MOST_QUERIES]
        answers = asked(some, database)
        if len(answers) != len(some):
            raise ValueError("it answered another question")
        for pin, answer in zip(some, answers, strict=True):
            if found := sorted(one["id"] for one in answer.get("vulns", [])):
                known[pin] = found
    return known


def asked(pins: list[tuple[str, str]], database: str) -> list[dict]:
    """Return the database's answers, in the order of the pins."""
    queries = [
        {"package": {"ecosystem": "PyPI", "name": name}, "version": version}
        for name, version in pins
    ]
    request = urllib.request.Request(  # noqa: S310 - the address is ours
        database,
        json.dumps({"queries": queries}).encode(),
        {"Content-Type": "application/json", "User-Agent": "geocorgi"},
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return json.loads(answer.read(LARGEST_ANSWER_BYTES))["results"]


if __name__ == "__main__":
    sys.exit(main())
