"""The server over streamable HTTP: alone on a port of this machine, or mounted into another app."""

import socket
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.routing import Route

from mnemolog.faces import asgi
from mnemolog.faces.mcp.binding import bind, check_host
from mnemolog.faces.mcp.guard import Guard, names_of
from mnemolog.faces.mcp.lines import MendedBodies
from mnemolog.faces.mcp.runs import Runs, Served
from mnemolog.faces.mcp.server import make_server

__all__ = ["bind", "check_host", "guarded", "mountable", "serve"]

PATH = "/mcp"
PORT = 7078
_GRACE_SECONDS = 3


class Mountable(NamedTuple):
    """An app without a door or a path of its own, and what must run for as long as it serves."""

    app: asgi.App
    running: Callable[[], AbstractAsyncContextManager[None]]


def mountable(served: Served) -> Mountable:
    """The server for another app, which has to stand behind a `Guard` itself."""
    sessions = StreamableHTTPSessionManager(make_server(Runs(served)))
    mending = MendedBodies(StreamableHTTPASGIApp(sessions))
    # This one reads a body to its end before it hands it on.
    whole = RequestBodyLimitMiddleware(mending, sessions.max_request_body_size)
    return Mountable(whole, sessions.run)


def guarded(served: Served, token: str, names: Iterable[str], path: str = PATH) -> Guard:
    """The server as an app of its own, behind its door."""
    app, running = mountable(served)
    alone = Starlette(routes=[Route(path, endpoint=app)], lifespan=lambda _: running())
    return Guard(alone, token, names)


def serve(
    served: Served,
    token: str,
    listening: socket.socket,
    more_names: Iterable[str] = (),
) -> None:
    """Serve until the system asks to end; open streams get a few seconds to finish."""
    host, port = listening.getsockname()[:2]
    names = names_of(port, more_names, host)
    config = uvicorn.Config(
        guarded(served, token, names),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])
