"""Verdicts on forests, remembered by content: what was audited once is not audited again.

A verdict stands in a file of its own. Its name is made by the device's secret of all that the
verdict depends on (the forest's bytes, the request, the version of the auditors): nobody who lacks
the secret can have written it, and a list of the names tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import geocorgi
from geocorgi.device.data_folder import private_folder
from geocorgi.device.secret import DeviceSecret
from geocorgi.files import write_atomically

PURPOSE = "verdict on a forest"
LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A folder of verdicts."""

    folder: Path
    secret: DeviceSecret

    def known(self, sha256: str, request: bytes) -> str | None:
        """Return the verdict on the bytes of this digest as an answer to the request, if any."""
        try:
            with self._path(sha256, request).open(encoding="utf-8") as file:
                return file.read(LONGEST) or None
        except (OSError, UnicodeDecodeError):  # then it is audited again
            return None

    def remember(self, sha256: str, request: bytes, verdict: str) -> None:
        """Keep the verdict."""
        private_folder(self.folder)
        write_atomically(self._path(sha256, request), verdict.encode(), private=True)

    def _path(self, sha256: str, request: bytes) -> Path:
        name = self.secret.name(PURPOSE, geocorgi.__version__, sha256, request.decode("ascii"))
        return self.folder / f"{name.hex()}.verdict"
