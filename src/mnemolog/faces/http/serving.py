"""Serving: one process with the API, the page, the protocol, the worker and maintenance inside."""

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any, NamedTuple, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mnemolog.faces.http import logs, spans
from mnemolog.faces.http.app import make_app
from mnemolog.faces.http.chores import Chores
from mnemolog.faces.http.connections import Connections
from mnemolog.faces.http.door import Door, Places, Seen, Terms
from mnemolog.faces.http.house import House
from mnemolog.faces.http.metrics import Figures
from mnemolog.faces.http.passes import Desk, Scope
from mnemolog.faces.mcp.guard import App, Doorway, names_of
from mnemolog.faces.page.routes import Page
from mnemolog.memory import Memory
from mnemolog.model.observing import observe
from mnemolog.stores.files.passes import TokenFile

PORT = 7077
_GRACE_SECONDS = 30
_HEADER_SECONDS = 15.0
_IDLE_SECONDS = 20
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Where(NamedTuple):
    """What to serve: a memory, the folder it lies in, the owner's token."""

    memory: Memory
    root: str
    token: str
    environ: Mapping[str, str] = {}
    work_agents: str | None = None
    more_names: tuple[str, ...] = ()


class Built(NamedTuple):
    """A server that was put together and has not begun."""

    app: Door
    house: House


def build(where: Where, port: int) -> Built:
    """Put a server for a port together."""
    settings = where.memory.settings.server
    desk = Desk(where.token, TokenFile(where.root), timedelta(days=settings.page_token_days))
    figures = Figures()
    house = House(where.memory, where.root, desk, figures, where.environ, where.work_agents)
    connections = Connections(house)
    api = make_app(house, settings.threads, lambda app: _lifespan(house, connections))
    terms = Terms(
        settings.requests_per_minute,
        settings.max_body_mb,
        settings.max_import_mb,
        settings.body_seconds,
    )
    names = names_of(port, (*settings.allow_hosts, *where.more_names))
    door = Door(
        Places(cast(App, api), connections, Page()), desk, Doorway(names), terms, _note(figures)
    )
    return Built(door, house)


def _note(figures: Figures) -> Any:
    def note(request: Seen) -> None:
        figures.seen(request)
        logs.seen(request)

    return note


@asynccontextmanager
async def _lifespan(house: House, connections: Connections) -> AsyncIterator[None]:
    """What runs beside the requests; at the end everything that was begun is finished."""
    observers = [house.figures.note, logs.note, spans.observer(house.environ)]
    forget = [observe(one) for one in observers if one is not None]
    house.open_worker()
    chores = Chores(house)
    await asyncio.to_thread(house.feeds.of, Scope())
    chores.begin()
    try:
        yield
    finally:
        await connections.close()
        await asyncio.to_thread(house.close)
        await asyncio.to_thread(chores.close)
        for each in forget:
            each()


class _Patient(H11Protocol):
    """Closes a connection whose request line and headers do not come in time."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._late = self.loop.call_later(_HEADER_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._late.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        cycle: object = self.cycle  # there is none until the headers have come
        if cycle is None:
            self.transport.close()


class _Server(uvicorn.Server):
    """Ends open streams before it waits for requests: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, house: House) -> None:
        super().__init__(config)
        self._house = house

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear SIGTERM and SIGINT; unlike the library, do not die of them once all is done."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in _SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, end the streams, finish every request."""
        await asyncio.to_thread(self._house.feeds.close)
        await super().shutdown(sockets)


def make_server(built: Built) -> uvicorn.Server:
    """A server around what was built."""
    config = uvicorn.Config(
        built.app,
        http=_Patient,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        backlog=512,
    )
    return _Server(config, built.house)


def serve(built: Built, listening: Iterable[socket.socket]) -> None:
    """Serve until SIGTERM or SIGINT; what was accepted is finished first."""
    make_server(built).run(sockets=list(listening))
