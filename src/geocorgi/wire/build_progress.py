"""How far a forest is that was asked for and is not there yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from geocorgi.errors import InvalidMessage
from geocorgi.matrix.forest_file import MOST_SUBTREES
from geocorgi.wire import canonical
from geocorgi.wire.public_map import MOST_ENTRIES

FORMAT = "geocorgi build progress 1"
MOST_BYTES = 1_000
FIELDS = {
    "ahead": canonical.is_whole,
    "done": canonical.is_whole,
    "format": canonical.is_text,
    "state": canonical.is_text,
    "subtrees": canonical.is_whole,
}


class State(StrEnum):
    """Whether it waits or is worked on."""

    QUEUED = "queued"
    BUILDING = "building"


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """Forests ahead of this one in the queue, and how many of its subtrees are done."""

    state: State
    ahead: int
    done: int
    subtrees: int

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        try:
            object.__setattr__(self, "state", State(self.state))
        except ValueError:
            raise InvalidMessage("a build is 'queued' or 'building'") from None
        counts = (self.ahead, self.done, self.subtrees)
        if not all(canonical.is_whole(count) for count in counts):
            raise InvalidMessage("a build's counts are whole numbers")
        if not (0 <= self.ahead <= MOST_ENTRIES and 0 <= self.done <= self.subtrees):
            raise InvalidMessage("a build has counts from 0 on, and no more done than there is")
        if not 0 < self.subtrees <= MOST_SUBTREES:
            raise InvalidMessage(f"a forest has 1 to {MOST_SUBTREES:,} subtrees")


def encode_progress(progress: BuildProgress) -> bytes:
    """Return the one sequence of bytes that stands for the progress."""
    return canonical.encoded(
        {
            "ahead": progress.ahead,
            "done": progress.done,
            "format": FORMAT,
            "state": progress.state.value,
            "subtrees": progress.subtrees,
        }
    )


def decode_progress(content: bytes) -> BuildProgress:
    """Return the progress in the bytes, or refuse them."""
    found = dict(canonical.message(content, MOST_BYTES, FORMAT, FIELDS))
    del found["format"]
    return BuildProgress(**found)
