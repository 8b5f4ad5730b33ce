"""Requests that wait for their answers: the end of the input is told only when there are none.

The protocol's library drops whatever is in flight when the input ends. A program that writes its
calls and closes the pipe (`… | mnemolog mcp`) would have none of them carried out.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

if TYPE_CHECKING:  # the library has no public names for these yet
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_PATIENCE_SECONDS = 10.0
"""How long each answer may take after the one before it, once the input has ended."""

Received = SessionMessage | Exception


class Unanswered:
    """Which requests of a connection wait for their answers."""

    def __init__(self) -> None:
        self._waiting: Counter[RequestId] = Counter()
        self._answered = anyio.Event()

    def came(self, item: Received) -> None:
        """Note a message of the client; a request that it takes back is not answered any more."""
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest):
            self._waiting[message.id] += 1
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._settle((message.params or {}).get("requestId"))

    def went(self, item: SessionMessage) -> None:
        """Note a message to the client."""
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._settle(item.message.id)

    def _settle(self, request: object) -> None:
        if isinstance(request, int | str) and request in self._waiting:
            self._waiting[request] -= 1
            if not self._waiting[request]:
                del self._waiting[request]
            self._answered.set()

    async def settled(self) -> None:
        """Wait for every answer, for as long as they keep coming."""
        while self._waiting:
            self._answered = anyio.Event()
            with anyio.move_on_after(_PATIENCE_SECONDS) as patience:
                await self._answered.wait()
            if patience.cancelled_caught:
                return


async def run(
    server: Server[Any], received: "ReadStream[Received]", sent: "WriteStream[SessionMessage]"
) -> None:
    """Serve one connection; what was read before the input ended is carried out and answered."""
    unanswered = Unanswered()
    to_server, reading = anyio.create_memory_object_stream[Received]()
    writing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as relays:
        relays.start_soon(_inward, unanswered, received, to_server)
        relays.start_soon(_outward, unanswered, from_server, sent)
        await server.run(reading, writing, server.create_initialization_options())


async def _inward(
    unanswered: Unanswered,
    received: "ReadStream[Received]",
    to_server: MemoryObjectSendStream[Received],
) -> None:
    async with received, to_server:
        async for item in received:
            unanswered.came(item)
            await to_server.send(item)
        await unanswered.settled()


async def _outward(
    unanswered: Unanswered,
    from_server: MemoryObjectReceiveStream[SessionMessage],
    sent: "WriteStream[SessionMessage]",
) -> None:
    async with from_server, sent:
        async for item in from_server:
            await sent.send(item)
            unanswered.went(item)
