"""The service over HTTP: addresses, headers and refusals as ``docs/wire.md`` has them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

import geocorgi
from geocorgi.errors import GeocorgiError
from geocorgi.server import metrics
from geocorgi.server.answer import later, refusal
from geocorgi.server.sending import Sent
from geocorgi.server.service import FOREST, INDEX, MAP, PIN, PINS, Service
from geocorgi.wire.schemas import schema

Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$", min_length=64, max_length=64)]
SECONDS_TO_MEND = 60
log = logging.getLogger("geocorgi.server")
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
    app.add_exception_handler(GeocorgiError, _no_store)
    return app


def _add_files(app: FastAPI, service: Service) -> None:
    @app.get(INDEX, responses=_described("map-index", 503))
    async def map_index() -> Response:
        return Sent(await service.map_index())

    @app.get(MAP, responses=_described("public-map", 404))
    async def map_file(map_id: Digest) -> Response:
        return Sent(await service.map_file(map_id))

    @app.get(PINS, responses=_described("forest-pins", 404))
    async def pins(map_id: Digest) -> Response:
        return Sent(await service.pins(map_id))

    @app.get(
        PIN,
        responses=_described("forest-pin", 404, 500) | {202: _json("build-progress")},
    )
    async def pin(map_id: Digest, request_id: Digest) -> Response:
        return Sent(await service.pin(map_id, request_id))

    @app.get(
        FOREST,
        responses=_described(None, 404, 500, 503),
    )
    async def forest(map_id: Digest, request_id: Digest, sha256: Digest) -> Response:
        return Sent(await service.forest(map_id, request_id, sha256))


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


async def _no_name(_: Request, __: Exception) -> Response:
    return Sent(refusal(422, NO_NAME))


async def _no_route(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = {404: "nothing lies at this address", 405: "this server is asked with GET"}
    more: dict[str, str] = dict(getattr(error, "headers", None) or {})  # which methods are allowed
    named = [(name.lower().encode(), value.encode()) for name, value in more.items()]
    return Sent(refusal(status, reason.get(status, "this cannot be answered"), named))


async def _no_store(_: Request, error: Exception) -> Response:
    log.warning("not answered: %s", error)
    return Sent(later("the server cannot read or write its store", SECONDS_TO_MEND))


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
