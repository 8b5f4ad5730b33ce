"""The Model Context Protocol for each scope: a server of its own, begun when it is first asked."""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from mnemolog.faces.http.door import VISIT
from mnemolog.faces.http.house import House
from mnemolog.faces.http.passes import Scope as Reach
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.mcp.guard import App, Receive, Scope, Send
from mnemolog.memory import Memory

if TYPE_CHECKING:
    from mnemolog.faces.mcp.http import Mountable

_MOST = 32


class _Open(NamedTuple):
    app: App
    ended: asyncio.Event
    task: "asyncio.Task[None]"


def _made(memory: Memory, reach: Reach) -> "Mountable":
    """A server for one scope; its library takes a second to load, so it waits for its first use."""
    from mnemolog.faces.mcp.http import mountable
    from mnemolog.faces.mcp.runs import Served

    return mountable(Served(memory, None, reach.agent, reach.user))


class Connections:
    """Hands each request to the server of its scope."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._open: dict[Reach, _Open] = {}
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit = scope[VISIT]
        app = await self._app(visit.reach)
        await app(scope, receive, send)

    async def _app(self, reach: Reach) -> App:
        async with self._lock:
            if reach not in self._open:
                if len(self._open) >= _MOST:
                    raise RefusedError(503, "E_BUSY", "Too many scopes are connected at once.")
                self._open[reach] = await self._begin(reach)
            return self._open[reach].app

    async def _begin(self, reach: Reach) -> _Open:
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
        await asyncio.gather(*(one.task for one in self._open.values()), return_exceptions=True)
        self._open.clear()
