"""Where a device keeps what it must not forget: one folder that only its user may enter.

The platform's own place for data, or what ``GEOCORGI_DATA`` names (tests, several identities).
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from geocorgi.errors import BadFile

VARIABLE = "GEOCORGI_DATA"


def data_folder(wanted: Path | None = None) -> Path:
    """Return the folder, made if need be: the wanted one, the environment's or the platform's."""
    if wanted is None:
        named = os.environ.get(VARIABLE)
        wanted = Path(named) if named else platformdirs.user_data_path("geocorgi", appauthor=False)
    return private_folder(wanted)


def private_folder(folder: Path) -> Path:
    """Return the folder, made if need be, for its owner alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as refusal:
        raise BadFile(
            f"the folder {folder.name} cannot be used ({refusal.strerror}): let its owner write "
            f"there, or name another one (the data folder in {VARIABLE})"
        ) from None
    return folder
