"""From a file to blocks of whole lines, in bounded memory whatever the file holds.

A file is taken for gzip when it is named ``.gz`` or begins like gzip. What can be decompressed
before a break (truncation, corruption, anything but zeros after the end) is handed out, then the
break is reported: nothing before it is lost and nothing after it is guessed. A stream whose
checksum fails is broken too, at its end.

Limits, for hostile input: a block holds about ``BLOCK_BYTES`` and a line at most
``LONGEST_LINE_BYTES``; of a longer line only enough is kept to see that it is longer. A gzip bomb
thus costs time in proportion to what it inflates to, but never memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from geocorgi.errors import BadCheckins

BLOCK_BYTES = 1 << 22
COMPRESSED_BYTES = 1 << 20  # inflates to about a block
LONGEST_LINE_BYTES = 1 << 16
GZIP = 31  # zlib's wbits for "a gzip header and trailer around it, checked"
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines without their newlines; the last may be cut by a break in the file."""

    first_line: int
    lines: list[bytes]
    broken: bool = False
    cut: bool = False


class _Break(Exception):
    pass


def blocks_of(path: Path) -> Iterator[Block]:
    """Yield the lines of the file; the last block of a broken file says that it is."""
    try:
        with path.open("rb") as file:
            yield from _blocks(_pieces(file, named_gzip=path.suffix == ".gz"))
    except OSError as refusal:
        raise BadCheckins(f"{path.name} cannot be read: {refusal.strerror}") from refusal


def _blocks(pieces: Iterator[bytes]) -> Iterator[Block]:
    line, rest, broken = 1, b"", False
    while True:
        try:
            piece = next(pieces, None)
        except _Break:
            piece, broken = None, True
        if piece is None:
            break
        whole, newline, rest = (rest + piece).rpartition(b"\n")
        rest = rest[: LONGEST_LINE_BYTES + len(BYTE_ORDER_MARK) + 1]
        if newline:
            lines = _without_mark(whole.split(b"\n"), line)
            yield Block(line, lines)
            line += len(lines)
    (rest,) = _without_mark([rest], line)
    if rest or broken:
        yield Block(line, [rest] if rest else [], broken, cut=broken and bool(rest))


def _without_mark(lines: list[bytes], first_line: int) -> list[bytes]:
    return [lines[0].removeprefix(BYTE_ORDER_MARK), *lines[1:]] if first_line == 1 else lines


def _pieces(file: BinaryIO, *, named_gzip: bool) -> Iterator[bytes]:
    start = file.read(len(GZIP_MAGIC))
    file.seek(0)
    if named_gzip or start == GZIP_MAGIC:
        return _inflated(file)
    return iter(lambda: file.read(BLOCK_BYTES), b"")


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """Yield what a gzip file of one or more members holds, then raise _Break if it breaks."""
    compressed = yield from _inflated_member(file, file.read(COMPRESSED_BYTES))
    while compressed := _after_padding(file, compressed):
        compressed = yield from _inflated_member(file, compressed)


def _inflated_member(file: BinaryIO, compressed: bytes) -> Generator[bytes, None, bytes]:
    """Yield what one member holds; return compressed bytes that follow it."""
    member = zlib.decompressobj(GZIP)
    while not member.eof:
        if not compressed:
            yield member.flush()
            raise _Break
        before = member.copy()
        try:
            yield member.decompress(compressed, BLOCK_BYTES)
        except zlib.error:
            yield from _salvaged(before, compressed)
            raise _Break from None
        compressed = member.unconsumed_tail
        if not (compressed or member.eof):
            compressed = file.read(COMPRESSED_BYTES)
    return member.unused_data


def _after_padding(file: BinaryIO, compressed: bytes) -> bytes:
    """Return the next bytes that are not zeros, which some tools pad the end with."""
    compressed = compressed or file.read(COMPRESSED_BYTES)
    while compressed and not (rest := compressed.lstrip(b"\0")):
        compressed = file.read(COMPRESSED_BYTES)
    return rest if compressed else b""


def _salvaged(member: zlib._Decompress, compressed: bytes) -> Iterator[bytes]:
    """Yield what comes out byte by byte until the fault: a failed call keeps its output back."""
    for at in range(len(compressed)):
        try:
            piece = member.decompress(compressed[at : at + 1])
        except zlib.error:
            return
        yield piece
