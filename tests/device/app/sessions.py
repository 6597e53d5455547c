"""Sessions of the page without a page: a device in this process."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from geocorgi.device.app.origin import Origin
from geocorgi.device.app.session import Session
from tests.device.forests import device_on
from tests.wire.maps import small_map

MAP = small_map()
ORIGIN = Origin(server="http://127.0.0.1:9/")


@contextmanager
def door(_origin, _job):
    """Lend a device that meets its server in this process."""
    yield device_on(MAP)


def new_session(folder: Path, public_map=MAP) -> Session:
    """Return a session that has its map."""
    session = Session(door, folder, folder / "policy.toml", ORIGIN)
    session.begin()
    session.use_map(public_map)
    return session
