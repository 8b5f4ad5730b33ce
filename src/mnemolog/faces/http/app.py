"""The app: all routes of the API, how they fail, and its OpenAPI document."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from inspect import cleandoc
from itertools import starmap
from typing import Any
from urllib.parse import unquote

import anyio.to_thread
import msgspec
from litestar import Litestar, Request, Response, Router, get
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException, SerializationException, ValidationException
from litestar.openapi import OpenAPIConfig
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, Receive, Scope, Send

from mnemolog.errors import MnemologError, StorageError
from mnemolog.faces.http import logs, problems
from mnemolog.faces.http.asked import only_known, public_names, unknown_in_body
from mnemolog.faces.http.door import API, DOWNLOADS, VISIT, is_open
from mnemolog.faces.http.house import House, caller_of
from mnemolog.faces.http.problems import MEDIA_TYPE, Problem, RefusedError
from mnemolog.faces.http.routes import (
    entries,
    events,
    exchange,
    files,
    health,
    knowledge,
    learning,
    planning,
    preferences,
    ruling,
    searching,
    sessions,
    signing,
    watching,
)

_LOOK = f"`GET {API}/openapi.json` says what each route takes."

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]

_PARTS = (
    signing, sessions, entries, searching, planning, health, ruling, preferences, exchange,
    knowledge, learning, files, events,
)  # fmt: skip


def routes() -> list[Any]:
    """Everything that the API offers."""
    return [route for part in _PARTS for route in part.ROUTES]


class _App(Litestar):
    """Takes msgspec's bodies alone: what the library loads for others takes longer than we do."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


def make_app(house: House | None, threads: int = 24, lifespan: Lifespan | None = None) -> Litestar:
    """The app over a house; without one only to tell what it would offer."""

    @asynccontextmanager
    async def running(app: Litestar) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = threads
        yield

    return _App(
        route_handlers=[
            Router(API, route_handlers=[*routes(), document], guards=[only_known]),
            *watching.ROUTES,
        ],
        dependencies={"caller": Provide(caller_of, sync_to_thread=False)},
        middleware=[_unquoting],
        exception_handlers={
            MnemologError: _failed,
            RefusedError: _failed,
            HTTPException: _refused,
            RecursionError: _malformed,
            UnicodeDecodeError: _malformed,
            Exception: _unexpected,
        },
        openapi_config=OpenAPIConfig(
            title="mnemolog",
            version=version("mnemolog"),
            use_handler_docstrings=True,
            path="/unused",
            render_plugins=[],
        ),
        state=State({"house": house}),
        lifespan=[running, *([lifespan] if lifespan else [])],
        request_max_body_size=None,
        logging_config=None,
        debug=False,
        pdb_on_exception=False,
    )


def _unquoting(app: ASGIApp) -> ASGIApp:
    """Middleware that decodes the parts of a path after it was cut: ids may hold a slash."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        given: dict[str, Any] = dict(scope.get("path_params") or {})
        scope["path_params"] = {name: _decoded(value) for name, value in given.items()}
        await app(scope, receive, send)

    return called


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise RefusedError(400, "E_INVALID_FORMAT", "The path is not UTF-8.") from None


def _problem(problem: Problem, headers: dict[str, str] | None = None) -> Response[Problem]:
    return Response(
        problem, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers or {}
    )


def _id_of(request: Request[Any, Any, Any]) -> str:
    visit = request.scope.get(VISIT)
    return "" if visit is None else str(visit.request_id)  # type: ignore[attr-defined]


def _failed(
    request: Request[Any, Any, Any], error: MnemologError | RefusedError
) -> Response[Problem]:
    if isinstance(error, StorageError):
        logs.failed(error, _id_of(request))
    wait = error.details.get("retry_after")
    return _problem(
        problems.problem_of(error, _id_of(request)),
        {"retry-after": str(wait)} if wait is not None else None,
    )


def _refused(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """What the framework refuses: unknown paths, other methods, bodies of a wrong shape."""
    status = error.status_code
    fields = _fields(error, _names(request))
    unknown = _unknown_in_body(request, fields.get("body", ""))
    if unknown is not None:
        return _failed(request, unknown)
    code = {400: "E_SCHEMA_INVALID", 404: "E_NOT_FOUND", 405: "E_METHOD"}.get(status, "E_HTTP")
    detail = (
        "; ".join(starmap(_said_of, fields.items())) or problems.TITLES.get(status, "Refused") + "."
    )
    if isinstance(error.__cause__, SerializationException):
        detail = f"The body cannot be read: {error.__cause__.detail[:200]}."
    elif status == 400 and not fields:  # of a body of another kind the framework says nothing
        detail = "The body is not JSON of the kind that this route takes."
    advice = _LOOK if status in (400, 404, 405) else ""
    found = problems.plain(status, code, detail, _id_of(request), fields=fields, advice=advice)
    return _problem(found, dict(error.headers or {}))


def _said_of(name: str, told: str) -> str:
    return told if name == "body" else f"{name}: {told}"


def _unknown_in_body(request: Request[Any, Any, Any], told: str) -> RefusedError | None:
    scope: dict[str, Any] = {**request.scope}
    return unknown_in_body(scope["route_handler"], told) if told else None


def _names(request: Request[Any, Any, Any]) -> dict[str, str]:
    """What the parameters of the route that was asked are called by others."""
    scope: dict[str, Any] = {**request.scope}  # a path that belongs to no route has no handler
    return public_names(scope["route_handler"]) if "route_handler" in scope else {}


def _fields(error: HTTPException, names: dict[str, str]) -> dict[str, str]:
    """What is wrong with which field, or with the body as a whole."""
    if not (isinstance(error, ValidationException) and isinstance(error.extra, list)):
        return {}
    found = {}
    for one in error.extra:
        if isinstance(one, dict):
            key, told = str(one.get("key", "body"))[:100], str(one.get("message", ""))[:300]
            name = names.get(key, key)
            is_missing = told == "'data'"  # the framework's name for the body
            found["body" if name == "data" else name] = "There is no body." if is_missing else told
    return found


def _malformed(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """A body that the decoder gives up on: nested too deeply, or no UTF-8."""
    detail = "The body is no JSON that can be read: nested too deeply, or not UTF-8."
    return _problem(problems.plain(400, "E_SCHEMA_INVALID", detail, _id_of(request)))


def _unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    logs.unexpected(error, _id_of(request))
    detail = "Something that nobody expected; the server's log has more."
    return _problem(problems.plain(500, "E_UNEXPECTED", detail, _id_of(request)))


def described(app: Litestar) -> dict[str, Any]:
    """The OpenAPI document: what Litestar tells, the way every route fails, and the token."""
    found: dict[str, Any] = app.openapi_schema.to_schema()
    parts = found.setdefault("components", {})
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schemas = parts.setdefault("schemas", {})
    for name, told in _bodies().items():
        schemas.setdefault(name, told)["description"] = cleandoc(told["description"])
    found["security"] = [{"token": []}]
    failure = {
        "description": "What went wrong, and what to do about it.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for path, item in found["paths"].items():
        for operation in item.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].pop("400", None)
                operation["responses"]["default"] = failure
                if is_open(path):
                    operation["security"] = []
    file = {"schema": {"type": "string", "format": "binary"}}
    download = found["paths"][f"{DOWNLOADS}{{ticket}}"]["get"]["responses"]["200"]
    download["content"] = dict.fromkeys(exchange.KINDS, file)
    return found


def _bodies() -> dict[str, Any]:
    """The schemas of all bodies as their classes tell them: the framework leaves out what for."""
    fields = [
        field for one in routes() for field in (one.parsed_return_field, one.parsed_data_field)
    ]
    kinds = {field.annotation for field in fields if field and field.is_subclass_of(msgspec.Struct)}
    _, schemas = msgspec.json.schema_components(
        [Problem, *kinds], ref_template="#/components/schemas/{name}"
    )
    return schemas


@get("/openapi.json", sync_to_thread=True, include_in_schema=False)
def document(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The OpenAPI document of this server."""
    return described(request.app)
