"""What the service has to say to a request, before it is HTTP."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

from geocorgi.server.store import GZIP_LEVEL, Published
from geocorgi.wire.build_progress import BuildProgress, encode_progress
from geocorgi.wire.canonical import digest
from geocorgi.wire.refusal import LONGEST_REASON, Refusal, encode_refusal

JSON = "application/json"
BINARY = "application/octet-stream"
FOREVER = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"
SMALL_BYTES = 1_000  # what fits a packet gains nothing by compression


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, bytes, and all headers that do not depend on who asks."""

    status: int
    content: bytes
    headers: dict[str, str]
    compressed: bytes | None = None
    tag: str | None = None


def message(content: bytes) -> Answer:
    """Return the answer for a small file that may change."""
    compressed = gzip.compress(content, GZIP_LEVEL, mtime=0)
    headers = {"Content-Type": JSON, "Cache-Control": REVALIDATED}
    packed = compressed if len(content) > SMALL_BYTES else None
    return Answer(200, content, headers, packed, digest(content))


def file(published: Published, sha256: str, content_type: str) -> Answer:
    """Return the answer for a file that never changes."""
    headers = {"Content-Type": content_type, "Cache-Control": FOREVER}
    return Answer(200, published.content, headers, published.compressed, sha256)


def progress(state: BuildProgress, retry_after_seconds: int) -> Answer:
    """Return the answer for a forest that is being built."""
    headers = {
        "Content-Type": JSON, "Cache-Control": "no-store", "Retry-After": str(retry_after_seconds),
    }  # fmt: skip
    return Answer(202, encode_progress(state), headers)


def refusal(status: int, reason: str, retry_after_seconds: int | None = None) -> Answer:
    """Return the answer for what is not to be had."""
    headers = {"Content-Type": JSON, "Cache-Control": "no-store"}
    if retry_after_seconds is not None:
        headers["Retry-After"] = str(retry_after_seconds)
    plain = reason.encode("ascii", "replace").decode("ascii").replace("\n", " ")
    return Answer(status, encode_refusal(Refusal(plain[:LONGEST_REASON])), headers)
