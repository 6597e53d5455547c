"""The wall, where it can be run into: a server's process cannot import what runs on a device.

The contracts of ``pyproject.toml`` see what is written in the source; this sees what is imported by
a name made up at run time, by a plug-in, or by whoever unpickles something from elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from geocorgi.errors import WallBreached

DEVICE = "geocorgi.device"


class _Wall(MetaPathFinder):
    """Stands before all other finders and lets nothing of the device through."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse the device; of anything else know nothing."""
        if _is_of_the_device(fullname):
            raise WallBreached(f"a server does not import {fullname}: it runs where the user is")
        return None


def raise_wall() -> None:
    """Make importing the device impossible in this process from now on."""
    inside = sorted(name for name in sys.modules if _is_of_the_device(name))
    if inside:
        raise WallBreached(f"a server's process has {inside[0]} in it: start it as geocorgi-server")
    if not any(isinstance(finder, _Wall) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Wall())


def _is_of_the_device(name: str) -> bool:
    return name == DEVICE or name.startswith(f"{DEVICE}.")
