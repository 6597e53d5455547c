"""For whom a report is: a label of the user's own, which only her device knows."""

from __future__ import annotations

from geocorgi.errors import InvalidInput

LONGEST_RECIPIENT = 64


def require_recipient(label: str) -> str:
    """Return a recipient's label, or refuse it."""
    if not (isinstance(label, str) and 0 < len(label) <= LONGEST_RECIPIENT and label.isprintable()):
        raise InvalidInput(f"a recipient is a label of 1 to {LONGEST_RECIPIENT} printable letters")
    return label
