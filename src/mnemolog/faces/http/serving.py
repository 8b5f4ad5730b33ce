"""Serving: one process with the API, the page, the protocol, the worker and maintenance inside."""

import asyncio
import resource
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mnemolog.faces import asgi
from mnemolog.faces.http import logs, spans
from mnemolog.faces.http.app import make_app
from mnemolog.faces.http.chores import Chores
from mnemolog.faces.http.connections import Connections
from mnemolog.faces.http.door import Allowance, Door, Places, Seen
from mnemolog.faces.http.house import House
from mnemolog.faces.http.metrics import Figures
from mnemolog.faces.http.passes import Desk
from mnemolog.faces.http.ruling import page_tokens_live
from mnemolog.faces.mcp.guard import Doorway, names_of
from mnemolog.faces.page.routes import Page
from mnemolog.memory import Memory
from mnemolog.model.observing import observe
from mnemolog.settings import Settings
from mnemolog.stores.files.serving.token_file import TokenFile

PORT = 7077
_GRACE_SECONDS = 30
_HEADER_SECONDS = 15.0
_IDLE_SECONDS = 20
_UNREAD_SECONDS = 5.0
_MOST_CONNECTIONS = 4096
# So many may come in at once, above all that are counted.
_BACKLOG = 128
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


def build(where: Where, port: int, host: str = "") -> Built:
    """Put a server for a port, and perhaps another address than the usual, together."""
    settings = where.memory.settings.server
    desk = Desk(where.token, TokenFile(where.root), page_tokens_live(where.memory.settings))
    figures = Figures()
    house = House(where.memory, where.root, desk, figures, where.environ, where.work_agents)
    connections = Connections(house)
    api = make_app(house, settings.threads, lambda app: _lifespan(house, connections))
    names = names_of(port, (*settings.allow_hosts, *where.more_names), host)
    places = Places(cast(asgi.App, api), connections, Page())
    door = Door(places, desk, Doorway(names), _terms(where.memory.settings), _note(figures))
    house.ruling.tell(lambda changed: door.use(_terms(changed)))
    return Built(door, house)


def _terms(settings: Settings) -> Allowance:
    server = settings.server
    return Allowance(
        server.requests_per_minute,
        server.max_body_mb,
        server.max_import_mb,
        server.body_seconds,
    )


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
    """Closes a connection whose request line and headers do not come in time.

    There are only so many: another one takes the place of the one that has neither asked nor read
    anything longest, so that files can still be opened, and whoever only keeps connections open
    shuts nobody out.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._since = self.loop.time()
        if len(self.connections) > _most_connections():
            idle = [one for one in self.connections if isinstance(one, _Patient) and one._is_idle]
            gone = min(idle, key=lambda one: one._since)
            self.connections.discard(gone)
            gone.transport.abort()
        self._wait()

    @property
    def is_waited_for(self) -> bool:
        """Whether it is the other end that keeps a request from ending."""
        return self.conn.their_state is h11.SEND_BODY or self.transport.get_write_buffer_size() > 0

    @property
    def _is_idle(self) -> bool:
        return self.flow.write_paused or self._has_answered

    @property
    def _has_answered(self) -> bool:
        cycle: Any = self.cycle  # there is none until the head of a request has come
        return cycle is None or cycle.response_complete

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        self._since = self.loop.time()
        super().pause_writing()

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.trailing_data[0] and self._has_answered:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Give a request a while from its first byte on; an idle connection ends elsewhere."""
        if self._late is None:
            self._late = self.loop.call_later(_HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = None


def _most_connections() -> int:
    """At most half of the files that may be open: the other half is for the memory's own."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_CONNECTIONS if files < 0 else min(_MOST_CONNECTIONS, files // 2)


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
        hanging_up = asyncio.create_task(self._hang_up())
        await super().shutdown(sockets)
        hanging_up.cancel()

    async def _hang_up(self) -> None:
        """After a while, let go of whoever neither sends what they began nor reads the answer."""
        await asyncio.sleep(_UNREAD_SECONDS)
        for one in list(self.server_state.connections):
            if isinstance(one, _Patient) and one.is_waited_for:
                one.transport.abort()


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
        backlog=_BACKLOG,
    )
    return _Server(config, built.house)


def serve(built: Built, listening: Iterable[socket.socket]) -> None:
    """Serve until SIGTERM or SIGINT; what was accepted is finished first."""
    make_server(built).run(sockets=list(listening))
