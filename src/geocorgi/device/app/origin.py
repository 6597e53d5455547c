"""Where maps and forests come from, as the user said it, and how a device is had for that."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from geocorgi.device.app.job import Job
from geocorgi.device.preparation import Device


@dataclass(frozen=True, slots=True)
class Origin:
    """A server's address, or a map in a file with its forests beside it."""

    server: str | None = None
    map_file: Path | None = None
    forests: Path | None = None

    def __str__(self) -> str:
        """Return it in a few words."""
        return self.server or (self.map_file.name if self.map_file else "nowhere")


class Door(Protocol):
    """Lends the device; whatever it waits for it says to the job, which may then be stopped."""

    def __call__(self, origin: Origin, job: Job, /) -> AbstractContextManager[Device]:
        """Open the ledger, and the way to the maps and forests."""
