"""The folder of one service's own: its queue and unfinished forests; nothing in it is published."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_data_path, user_state_path

from geocorgi.errors import BadFile, InvalidInput
from geocorgi.wire.canonical import digest

if os.name == "posix":
    import fcntl

APPLICATION = "geocorgi-server"


def default_store() -> str:
    """Return the folder that is served where none is named."""
    return str(user_data_path(APPLICATION) / "published")


def state_for(store: str, state: Path | None) -> Path:
    """Return the state folder of a store: that named, beside the folder, or in the user's own."""
    if state is not None:
        return state
    if "://" in store:
        return user_state_path(APPLICATION) / digest(store.encode())[:16]
    folder = Path(store)
    return folder.with_name(f"{folder.name}.state")


@contextmanager
def locked(state: Path) -> Iterator[None]:
    """Hold the folder for one service alone, until the process ends however it ends."""
    try:
        state.mkdir(parents=True, exist_ok=True)
        file = (state / "lock").open("ab")
    except OSError as refusal:
        raise BadFile(f"cannot use {state.name}: {refusal.strerror}") from refusal
    with file:
        if os.name == "posix":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as taken:
                raise InvalidInput(
                    "another server works in this state folder: stop it, or name another --state"
                ) from taken
        yield
