"""Why a server does not answer as asked: one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from geocorgi.errors import InvalidMessage
from geocorgi.wire import canonical

FORMAT = "geocorgi refusal 1"
MOST_BYTES = 2_000
LONGEST_REASON = 300
FIELDS = {"format": canonical.is_text, "reason": canonical.is_text}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence of printable ASCII: it is shown in terminals, and comes from strangers."""

    reason: str

    def __post_init__(self) -> None:
        """Refuse what could do more than be read."""
        if not (isinstance(self.reason, str) and 0 < len(self.reason) <= LONGEST_REASON):
            raise InvalidMessage(f"a refusal's reason has 1 to {LONGEST_REASON} letters")
        if not (self.reason.isascii() and self.reason.isprintable()):
            raise InvalidMessage("a refusal's reason is printable ASCII")


def encode_refusal(refusal: Refusal) -> bytes:
    """Return the one sequence of bytes that stands for the refusal."""
    return canonical.encoded({"format": FORMAT, "reason": refusal.reason})


def decode_refusal(content: bytes) -> Refusal:
    """Return the refusal in the bytes, or refuse them."""
    return Refusal(canonical.message(content, MOST_BYTES, FORMAT, FIELDS)["reason"])
