"""The server over streamable HTTP: alone on a port of this machine, or mounted into another app."""

import ipaddress
import socket
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from mnemolog.errors import NotAllowedError, StorageIOError
from mnemolog.faces.mcp.guard import App, Guard, names_of
from mnemolog.faces.mcp.runs import Runs, Served
from mnemolog.faces.mcp.server import make_server

PATH = "/mcp"
PORT = 7078
_BACKLOG = 128
_GRACE_SECONDS = 3


class Mountable(NamedTuple):
    """An app without a door or a path of its own, and what must run for as long as it serves."""

    app: App
    running: Callable[[], AbstractAsyncContextManager[None]]


def mountable(served: Served) -> Mountable:
    """The server for another app, which has to stand behind a `Guard` itself."""
    sessions = StreamableHTTPSessionManager(make_server(Runs(served)))
    return Mountable(StreamableHTTPASGIApp(sessions), sessions.run)


def guarded(served: Served, token: str, names: Iterable[str], path: str = PATH) -> Guard:
    """The server as an app of its own, behind its door."""
    app, running = mountable(served)
    alone = Starlette(routes=[Route(path, endpoint=app)], lifespan=lambda _: running())
    return Guard(alone, token, names)


def bind(host: str, port: int) -> socket.socket:
    """A port to listen on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise StorageIOError(
            f"Cannot listen on {host}, port {port}: {error.strerror or error}.",
            advice="Choose another with --host and --port.",
        ) from error


def check_host(host: str, *, has_token: bool, behind_tls: bool) -> None:
    """Refuse every address but this machine's own, unless there is a token and TLS in front."""
    if is_loopback(host) or (has_token and behind_tls):
        return
    raise NotAllowedError(
        f"{host!r:.80} can be reached from other machines, and this server does not encrypt.",
        advice="Use 127.0.0.1; or, behind a proxy that speaks TLS, start it once on 127.0.0.1 so "
        "that there is a token, then give --behind-tls and --allow-host.",
    )


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    served: Served,
    token: str,
    listening: socket.socket,
    more_names: Iterable[str] = (),
) -> None:
    """Serve until the system asks to end; open streams get a few seconds to finish."""
    names = names_of(listening.getsockname()[1], more_names)
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
