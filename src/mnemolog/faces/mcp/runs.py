"""Which run a request belongs to: a connection has one, opened with its first call, ended with it.

The newer wire generation (2026-07-28) has no connections. Over stdio the one client is the
connection all the same; over HTTP, requests that name the same client, or that bring the same
`Mnemolog-Run` header, share a run until the server ends.
"""

import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import anyio
from anyio import to_thread
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mnemolog.errors import MnemologError, SessionExistsError, SessionNotFoundError
from mnemolog.memory import Memory
from mnemolog.memory.running import Run
from mnemolog.tools import BoundTools

Context = ServerRequestContext[Any, Any]
Result = TypeVar("Result")

RUN_HEADER = "mnemolog-run"
_KEY = "mnemolog"
_MOST_SHARED = 64
_THREADS = 8
_UNFIT = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 40

logger = logging.getLogger("mnemolog.mcp")


class Served(NamedTuple):
    """What a server serves: a memory as its clients may see it, and the session they work in."""

    memory: Memory
    session_id: str | None = None
    agent: str | None = None
    user: str | None = None


class Seat(NamedTuple):
    """What a client works with: its run, and the tools bound to it."""

    run: Run
    tools: BoundTools


class Runs:
    """The open runs of a server's clients."""

    def __init__(self, served: Served) -> None:
        self.memory = served.memory
        self._served = served
        self._lock = anyio.Lock()
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._open: set[Seat] = set()
        self._shared: dict[tuple[str, str], Seat] = {}

    async def in_thread(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Do something that waits for the disk, beside the loop."""
        return await to_thread.run_sync(call, *arguments, limiter=self._threads)

    async def seat(self, context: Context) -> Seat:
        """The seat of the client that asks; it gets one with its first call."""
        async with self._lock:
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return await self._shared_seat(context)
            return await self._own_seat(context)

    async def _own_seat(self, context: Context) -> Seat:
        connection = _connection(context)
        seat: Seat | None = connection.state.get(_KEY)
        if seat is None or seat not in self._open:
            seat = await self._opened(client_name(context))
            connection.state[_KEY] = seat
            connection.exit_stack.push_async_callback(self._end, seat)
        return seat

    async def _shared_seat(self, context: Context) -> Seat:
        name, run = client_name(context), _named_run(context)
        key = ("run", run) if run else ("client", name)
        seat = self._shared.pop(key, None)
        if seat is None or seat not in self._open:
            seat = await self._opened(name)
        self._shared[key] = seat  # the last in the row is the last that was used
        if len(self._shared) > _MOST_SHARED:
            await self._end(self._shared.pop(next(iter(self._shared))))
        return seat

    async def _opened(self, client: str) -> Seat:
        with anyio.CancelScope(shield=True):  # a run that was begun must be known, to be ended
            seat = await self.in_thread(self._begin, client)
            self._open.add(seat)
        return seat

    async def has_gone(self, seat: Seat) -> bool:
        """Whether somebody else has ended the run of a seat; its client then gets another one."""
        is_gone = await self.in_thread(seat.run.is_gone)
        if is_gone:
            await self._end(seat)
        return is_gone

    def _begin(self, client: str) -> Seat:
        session_id = open_session(self._served, client)
        run = self.memory.run(session_id)
        return Seat(run, BoundTools(self.memory, run))

    async def _end(self, seat: Seat) -> None:
        if seat in self._open:
            self._open.discard(seat)
            await to_thread.run_sync(seat.run.end)  # it stands behind no calls that wait

    async def end_all(self) -> None:
        """End every run that is still open; the server goes."""
        self._shared.clear()
        for seat in list(self._open):
            try:
                await self._end(seat)
            except MnemologError as error:  # the others are to be ended all the same
                logger.warning("The run %s was not ended: %s", seat.run.id, error)


def _connection(context: Context) -> Connection:
    # The library documents the connection's `exit_stack` as the place for such an end, and has no
    # public way to it yet.
    return context.session._connection


def client_name(context: Context) -> str:
    """How the client calls itself."""
    params = context.session.client_params
    return params.client_info.name if params is not None else ""


def _named_run(context: Context) -> str | None:
    headers = getattr(context.request, "headers", None)
    return headers.get(RUN_HEADER) if headers is not None else None


def outline(memory: Memory) -> Run:
    """A run that was never begun: it says which compartments there are, and holds nothing."""
    return Run(memory, "", "")


def open_session(served: Served, client: str) -> str:
    """The session that was asked for, else the one of this client and day; made where missing."""
    memory = served.memory
    session_id = served.session_id or _session_of_the_day(served, client)
    try:
        return memory.load_session(session_id).id
    except SessionNotFoundError:
        pass
    try:
        return memory.create_session(session_id=session_id, metadata={"client": client[:200]}).id
    except SessionExistsError:  # another server was faster, or it is not ours to see
        return memory.load_session(session_id).id


def _session_of_the_day(served: Served, client: str) -> str:
    name = _UNFIT.sub("-", client.lower()).strip("-")[:_LONGEST_NAME] or "client"
    today = f"mcp-{name}-{datetime.now(UTC):%Y-%m-%d}"
    if served.agent is None and served.user is None:
        return today
    # Agents do not see each other's sessions, so they must not meet in the name of one either.
    whose = repr((served.agent, served.user)).encode("utf-8", "surrogatepass")
    return f"{today}-{sha256(whose).hexdigest()[:8]}"
