"""How these tests reach a server: in this process, over stdio, and over HTTP."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from mnemolog import Memory
from mnemolog.faces.mcp.runs import Runs, Served
from mnemolog.faces.mcp.server import make_server

HANDSHAKE = "legacy"
ENVELOPE = "auto"
VERSIONS = {HANDSHAKE: "2025-11-25", ENVELOPE: "2026-07-28"}
"""Both generations of the wire, as the client calls them, and the version that it then speaks."""

WAIT_SECONDS = 60


def words(root: Path, *more: str) -> list[str]:
    return ["-m", "mnemolog", "--root", str(root), "mcp", *more]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "MNEMOLOG_ROOT"}


def started(root: Path, *more: str) -> subprocess.Popen[str]:
    """A server that is spoken to line by line, as no client would."""
    return subprocess.Popen(
        [sys.executable, *words(root, *more)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def over_stdio(root: Path, *more: str, mode: str = HANDSHAKE) -> Client:
    told = StdioServerParameters(
        command=sys.executable, args=words(root, *more), env=environment(), cwd=str(root.parent)
    )
    return Client(stdio_client(told), mode=mode)


class Address(NamedTuple):
    """Where a server listens, and its token."""

    url: str
    token: str

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").partition("/")[0]


@asynccontextmanager
async def over_http(
    address: Address, mode: str = HANDSHAKE, **headers: str
) -> AsyncIterator[Client]:
    sent = {"Authorization": f"Bearer {address.token}", **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=WAIT_SECONDS) as web,
        Client(streamable_http_client(address.url, http_client=web), mode=mode) as client,
    ):
        yield client


@contextmanager
def http_server(root: Path, *command: str) -> Iterator[Address]:
    """A real server in a process of its own, on a port that the system picks."""
    started = subprocess.Popen(
        [sys.executable, *(command or words(root, "--http", "--port", "0"))],
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    assert started.stderr is not None
    try:
        first = started.stderr.readline()
        found = re.search(r"http://\S+", first)
        assert found, first + started.stderr.read()
        token = root / "token"
        yield Address(found[0], token.read_text().strip() if token.exists() else "")
    finally:
        started.send_signal(signal.SIGTERM)
        started.wait(WAIT_SECONDS)
        started.stderr.close()


def server(memory: Memory, session_id: str | None = None) -> Server[Any]:
    """The server as an object; a client in this process takes it as it is."""
    return make_server(Runs(Served(memory, session_id)))


async def said(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers, which must not be an error."""
    text, is_error = await asked(client, tool, arguments)
    assert not is_error, text
    return text


async def asked(client: Client, tool: str, arguments: Any) -> tuple[str, bool]:
    """What a tool answers, and whether that is an error."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    return content.text, result.is_error


async def together(calls: list[Callable[[], Awaitable[Any]]]) -> None:
    """Make calls without waiting for one another."""
    async with anyio.create_task_group() as group:
        for call in calls:
            group.start_soon(call)  # type: ignore[arg-type]
