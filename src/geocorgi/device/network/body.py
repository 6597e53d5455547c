"""An answer's body, taken in piece by piece and never beyond what was agreed.

A compressed answer is unpacked here and not by the library, so that a few kilobytes that unpack to
gigabytes end at the first byte too many: no more is ever unpacked than may still come.
"""

from __future__ import annotations

import zlib

from geocorgi.errors import AnswerRefused, Unreachable

GZIP_WINDOW = 31  # zlib's word for: with gzip's header and checksum, nothing else


class Body:
    """What has come so far of an answer of at most so many bytes."""

    __slots__ = ("_content", "_gzip", "_most_bytes", "_packed")

    def __init__(self, encoding: str | None, most_bytes: int) -> None:
        """Begin an answer that says how it is compressed."""
        if encoding not in {None, "identity", "gzip"}:
            raise AnswerRefused("the answer is compressed in a way that was not asked for")
        self._gzip = zlib.decompressobj(GZIP_WINDOW)
        self._packed = encoding == "gzip"
        self._most_bytes = most_bytes
        self._content = bytearray()

    def take(self, piece: bytes) -> None:
        """Take the next piece as it came over the wire."""
        room = self._most_bytes - len(self._content)
        if self._packed:
            piece = self._unpacked(piece, room + 1)
        if len(piece) > room:
            raise AnswerRefused(f"the answer is larger than the {self._most_bytes:,} bytes agreed")
        self._content += piece

    def whole(self) -> bytes:
        """Return the content once the last piece was taken."""
        if self._packed and not self._gzip.eof:
            raise Unreachable("the answer broke off before its end")
        return bytes(self._content)

    def _unpacked(self, piece: bytes, most_bytes: int) -> bytes:
        try:
            unpacked = self._gzip.decompress(piece, most_bytes)
        except zlib.error:
            raise AnswerRefused("the answer says that it is compressed and is not") from None
        if self._gzip.unused_data:
            raise AnswerRefused("the answer goes on after its compressed end")
        return unpacked
