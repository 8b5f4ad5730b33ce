"""The Model Context Protocol for each scope: a server of its own, begun when it is first asked.

There are only so many: another one takes the place of the one that was idle longest. Whoever sees
everything has a place beside them, which others can neither take nor keep from them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemolog.faces import asgi
from mnemolog.faces.http.door import VISIT
from mnemolog.faces.http.house import House
from mnemolog.faces.http.passes import Scope
from mnemolog.faces.http.problems import RefusedError
from mnemolog.memory import Memory

if TYPE_CHECKING:
    from mnemolog.faces.mcp.http import Mountable

_MOST = 32


@dataclass
class _Open:
    app: asgi.App
    ended: asyncio.Event
    task: "asyncio.Task[None]"
    requests: int = 0
    """How many are being served; the open stream of a client is one."""


def _made(memory: Memory, reach: Scope) -> "Mountable":
    """A server for one scope; its library takes a second to load, so it waits for its first use."""
    from mnemolog.faces.mcp.http import mountable
    from mnemolog.faces.mcp.runs import Served

    return mountable(Served(memory, None, reach.agent, reach.user))


class Connections:
    """Hands each request to the server of its scope."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._open: dict[Scope, _Open] = {}  # the first in the row was idle longest
        self._going: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        self._house.expect_root()
        async with self._used(scope[VISIT].reach) as app:
            await app(scope, receive, send)

    @asynccontextmanager
    async def _used(self, reach: Scope) -> AsyncIterator[asgi.App]:
        """The server of a scope, which stays for as long as a request needs it."""
        async with self._lock:
            if reach not in self._open:
                if reach != Scope():
                    self._make_room()
                self._open[reach] = await self._begin(reach)
            one = self._open[reach]
            one.requests += 1
        try:
            yield one.app
        finally:
            one.requests -= 1
            if reach in self._open:  # it is not once all were closed
                self._open[reach] = self._open.pop(reach)

    def _make_room(self) -> None:
        """Let go of the scope that nobody has used for longest; its runs end beside the others."""
        narrow = [reach for reach in self._open if reach != Scope()]
        if len(narrow) < _MOST:
            return
        idle = next((reach for reach in narrow if not self._open[reach].requests), None)
        if idle is None:
            raise RefusedError(503, "E_BUSY", "Too many scopes are connected at once.")
        gone = self._open.pop(idle)
        gone.ended.set()
        self._going.add(gone.task)
        gone.task.add_done_callback(self._going.discard)

    async def _begin(self, reach: Scope) -> _Open:
        app, running = await asyncio.to_thread(_made, self._house.view(reach), reach)
        ready, ended = asyncio.Event(), asyncio.Event()

        async def serve() -> None:
            async with running():
                ready.set()
                await ended.wait()

        task = asyncio.create_task(serve())
        await ready.wait()
        return _Open(app, ended, task)

    async def close(self) -> None:
        """End every server, and with it the runs of its clients."""
        for one in self._open.values():
            one.ended.set()
        tasks = [*self._going, *(one.task for one in self._open.values())]
        await asyncio.gather(*tasks, return_exceptions=True)
        self._open.clear()
