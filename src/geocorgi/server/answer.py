"""What the service has to say to a request: status, bytes, and the headers of each form of it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field

from geocorgi.server.store import GZIP_LEVEL, Published
from geocorgi.wire.build_progress import BuildProgress, encode_progress
from geocorgi.wire.canonical import digest
from geocorgi.wire.refusal import LONGEST_REASON, Refusal, encode_refusal

JSON = "application/json"
BINARY = "application/octet-stream"
FOREVER = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"
NEVER_KEPT = "no-store"
SMALL_BYTES = 1_000  # what fits a packet gains nothing by compression
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Form:
    """The bytes of an answer as they are or compressed, and the headers that go with them."""

    content: bytes
    headers: Headers
    tag: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in its plain form and, where that is worth it, compressed."""

    status: int
    plain: Form
    packed: Form | None = None
    route: str = ""
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        """Weigh it."""
        weight = len(self.plain.content) + (len(self.packed.content) if self.packed else 0)
        object.__setattr__(self, "bytes", weight)


def message(content: bytes, route: str) -> Answer:
    """Return the answer for a small file that may change."""
    packed = gzip.compress(content, GZIP_LEVEL, mtime=0) if len(content) > SMALL_BYTES else None
    return _tagged(Published(content, packed or b""), digest(content), (JSON, REVALIDATED), route)


def file(published: Published, sha256: str, content_type: str, route: str) -> Answer:
    """Return the answer for a file that never changes."""
    return _tagged(published, sha256, (content_type, FOREVER), route)


def progress(state: BuildProgress, retry_after_seconds: int) -> Answer:
    """Return the answer for a forest that is being built."""
    return Answer(202, _form(encode_progress(state), JSON, NEVER_KEPT, _after(retry_after_seconds)))


def refusal(status: int, reason: str, more: Headers | None = None) -> Answer:
    """Return the answer for what is not to be had."""
    plain = reason.encode("ascii", "replace").decode("ascii").replace("\n", " ")
    content = encode_refusal(Refusal(plain[:LONGEST_REASON]))
    return Answer(status, _form(content, JSON, NEVER_KEPT, more or []))


def later(reason: str, retry_after_seconds: int) -> Answer:
    """Return the answer for what is not to be had now."""
    return refusal(503, reason, _after(retry_after_seconds))


def _after(seconds: int) -> Headers:
    return [(b"retry-after", b"%d" % seconds)]


def _tagged(published: Published, tag: str, kind: tuple[str, str], route: str) -> Answer:
    content, compressed = published.content, published.compressed
    if not compressed:
        return Answer(200, _with_tag(content, tag, kind, []), None, route)
    vary = [(b"vary", b"Accept-Encoding")]
    packed = [*vary, (b"content-encoding", b"gzip")]
    return Answer(
        200,
        _with_tag(content, tag, kind, vary),
        _with_tag(compressed, f"{tag}-gzip", kind, packed),
        route,
    )


def _with_tag(content: bytes, tag: str, kind: tuple[str, str], more: Headers) -> Form:
    quoted = f'"{tag}"'.encode()
    form = _form(content, *kind, [*more, (b"etag", quoted)])
    return Form(form.content, form.headers, quoted)


def _form(content: bytes, content_type: str, cache: str, more: Headers) -> Form:
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", b"%d" % len(content)),
        (b"cache-control", cache.encode()),
    ]
    return Form(content, headers + more)
