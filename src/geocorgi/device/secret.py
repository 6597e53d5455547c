"""The device's secret: what makes names out of places that nobody else can read back.

32 bytes of the operating system's randomness in a file of their own, mode 0600, apart from all
that is named with them. Whoever has both this file and the ledger can try every cell of a city:
the secret protects a ledger that is copied, backed up or shared without it.
"""

from __future__ import annotations

import hmac
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from geocorgi.errors import BadFile

FILE = "secret.key"
LENGTH = 32


class DeviceSecret:
    """A key that names things and shows itself to nobody."""

    __slots__ = ("__key",)

    def __init__(self, key: bytes) -> None:
        """Hold the key."""
        if len(key) != LENGTH:
            raise BadFile(f"{FILE} is damaged: it holds {LENGTH} bytes; restore it from a backup")
        self.__key = key

    def name(self, purpose: str, *parts: str) -> bytes:
        """Return the name of something: 32 bytes, different for every purpose and for all parts."""
        written = [part.encode() for part in (purpose, *parts)]
        return hmac.digest(
            self.__key, b"".join(b"%d:%b" % (len(part), part) for part in written), "sha256"
        )

    def hide(self, purpose: str, text: str) -> bytes:
        """Return a short text so that only this secret gives it back; never twice the same."""
        salt, written = secrets.token_bytes(LENGTH), text.encode()
        if len(written) > LENGTH:
            raise BadFile(f"what is hidden has at most {LENGTH} letters")
        return salt + self._mask(purpose, salt, written)

    def reveal(self, purpose: str, hidden: bytes) -> str:
        """Return the text that was hidden for the same purpose."""
        try:
            return self._mask(purpose, hidden[:LENGTH], hidden[LENGTH:]).decode("ascii")
        except UnicodeDecodeError:
            raise BadFile("what was hidden is damaged: geocorgi history --erase") from None

    def _mask(self, purpose: str, salt: bytes, written: bytes) -> bytes:
        mask = self.name("hide", purpose, salt.hex())
        return bytes(one ^ other for one, other in zip(written, mask, strict=False))

    def __repr__(self) -> str:
        return "<device secret, withheld>"

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("a device's secret is neither pickled nor copied")


def device_secret(folder: Path) -> DeviceSecret:
    """Return the secret of the folder; the first call makes it, and two at once make one."""
    path = folder / FILE
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        return DeviceSecret(path.read_bytes())
    except OSError as refusal:
        raise BadFile(f"{FILE} cannot be read: {refusal.strerror}") from None


def has_secret(folder: Path) -> bool:
    """Return whether the folder has a secret already."""
    return (folder / FILE).exists()


def _make(path: Path) -> None:
    """Write a whole file under another name, then give it its own unless somebody was faster."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(LENGTH))
            file.flush()
            os.fsync(file.fileno())
        link_new(Path(temporary), path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def link_new(whole: Path, path: Path) -> None:
    """Give a finished file its name as well, unless another process has just done so.

    Where a file system has no second names (on telephones and memory cards) it is renamed: two
    processes that begin in the same instant could then begin twice, and the one that lost notices
    that the secret is not its own.
    """
    try:
        path.hardlink_to(whole)
    except FileExistsError:
        return
    except OSError:
        if path.exists():
            return
        whole.rename(path)
    if hasattr(os, "O_DIRECTORY"):  # the name itself reaches the disk
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
