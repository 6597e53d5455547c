"""The service over HTTP: addresses, headers and refusals as ``docs/wire.md`` has them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import geocorgi
from geocorgi.server import metrics
from geocorgi.server.answer import Answer, refusal
from geocorgi.server.metrics import Metrics
from geocorgi.server.service import Service
from geocorgi.wire.schemas import schema

Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)]
PIECE_BYTES = 262_144
NO_NAME = "a name in an address is 64 hexadecimal digits in lower case"


def new_app(service: Service, on_ready: Callable[[], None] = lambda: None) -> FastAPI:
    """Return the application over a service; it says when it is ready."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        on_ready()
        yield
        await service.stop()

    app = FastAPI(
        title="geocorgi", version=geocorgi.__version__, lifespan=lifespan,
        docs_url=None, redoc_url=None, redirect_slashes=False,
        summary="Public maps and privacy forests, the same bytes for everyone.",
    )  # fmt: skip
    _add_files(app, service)
    _add_health(app, service)
    app.add_exception_handler(RequestValidationError, _no_name)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_middleware(Counted, metrics=service.metrics)
    return app


def _add_files(app: FastAPI, service: Service) -> None:
    @app.get("/v1/map", responses=_described("map-index", 503))
    async def map_index(request: Request) -> Response:
        return _response(request, await service.map_index())

    @app.get("/v1/maps/{map_id}/map.json", responses=_described("public-map", 404))
    async def map_file(request: Request, map_id: Digest) -> Response:
        return _response(request, await service.map_file(map_id))

    @app.get("/v1/maps/{map_id}/pins.json", responses=_described("forest-pins", 404))
    async def pins(request: Request, map_id: Digest) -> Response:
        return _response(request, await service.pins(map_id))

    @app.get(
        "/v1/maps/{map_id}/forests/{request_id}/pin.json",
        responses=_described("forest-pin", 404, 500) | {202: _json("build-progress")},
    )
    async def pin(request: Request, map_id: Digest, request_id: Digest) -> Response:
        return _response(request, await service.pin(map_id, request_id))

    @app.get(
        "/v1/maps/{map_id}/forests/{request_id}/{sha256}.safetensors",
        responses=_described(None, 404, 500, 503),
    )
    async def forest(
        request: Request, map_id: Digest, request_id: Digest, sha256: Digest
    ) -> Response:
        return _response(request, await service.forest(map_id, request_id, sha256))


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/health")
    async def health() -> dict[str, bool]:
        return {"alive": True}

    @app.get("/ready", responses={503: {"description": "starting or stopping"}})
    async def ready(response: Response) -> dict[str, bool]:
        response.status_code = 200 if service.ready else 503
        return {"ready": service.ready}

    @app.get("/metrics", response_class=Response)
    async def metrics_text() -> Response:
        return Response(service.metrics.text(), headers={"Content-Type": metrics.CONTENT_TYPE})


def _response(request: Request, answer: Answer) -> Response:
    """Return the answer in the form that the request accepts."""
    content, headers = answer.content, answer.headers
    if answer.tag is None:
        return Response(content, answer.status, headers)
    tag = f'"{answer.tag}"'
    if answer.compressed is not None:
        headers = headers | {"Vary": "Accept-Encoding"}
        if _accepts_gzip(request.headers.get("accept-encoding", "")):
            content, tag = answer.compressed, f'"{answer.tag}-gzip"'
            headers["Content-Encoding"] = "gzip"
    headers = headers | {"ETag": tag}
    if tag in request.headers.get("if-none-match", "").replace("W/", "").split(", "):
        headers.pop("Content-Type")
        headers.pop("Content-Encoding", None)
        return Response(status_code=304, headers=headers)
    return Piecewise(content, answer.status, headers)


def _accepts_gzip(accepted: str) -> bool:
    for part in accepted.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in {"gzip", "*"}:
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


async def _no_name(_: Request, __: Exception) -> Response:
    answer = refusal(422, NO_NAME)
    return Response(answer.content, answer.status, answer.headers)


async def _no_route(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = {404: "nothing lies at this address", 405: "this server is asked with GET"}
    answer = refusal(status, reason.get(status, "this cannot be answered"))
    more: dict[str, str] = dict(getattr(error, "headers", None) or {})  # which methods are allowed
    return Response(answer.content, answer.status, answer.headers | more)


def _described(message: str | None, *refused: int) -> dict[int | str, dict[str, Any]]:
    """Return what the OpenAPI says of a route's answers."""
    binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    good = {"content": binary} if message is None else _json(message)
    answers: dict[int | str, dict[str, Any]] = {200: {"description": "there", **good}}
    answers[422] = _json("refusal")
    return answers | {status: _json("refusal") for status in refused}


def _json(message: str) -> dict[str, Any]:
    found = {key: part for key, part in schema(message).items() if not key.startswith("$")}
    return {"description": message, "content": {"application/json": {"schema": found}}}


class Piecewise(Response):
    """Sends a long body in pieces, so that a slow client holds one piece in memory, not all."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        if len(self.body) <= PIECE_BYTES:
            await super().__call__(scope, receive, send)
            return
        start = {"type": "http.response.start", "status": self.status_code}
        await send(start | {"headers": self.raw_headers})
        body = memoryview(self.body)
        for first in range(0, len(body), PIECE_BYTES):
            last = first + PIECE_BYTES
            piece = bytes(body[first:last])
            more = last < len(body)
            await send({"type": "http.response.body", "body": piece, "more_body": more})


class Counted:
    """Counts every answer by its route's pattern; an address as it was asked is not kept.

    HEAD is answered as GET; the server below leaves the body out.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        status, length = 500, 0

        async def counted(sent: Message) -> None:
            nonlocal status, length
            if sent["type"] == "http.response.start":
                status = sent["status"]
            else:
                length += len(sent.get("body", b""))
            await send(sent)

        try:
            await self._app(scope, receive, counted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.answered(route, status, length)
