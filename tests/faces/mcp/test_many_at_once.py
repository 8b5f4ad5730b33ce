"""Nothing that was acknowledged is lost: pipelined calls, several servers, several clients."""

import re
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client

from mnemolog import Memory
from tests.faces.mcp.clients import (
    ENVELOPE,
    HANDSHAKE,
    VERSIONS,
    Address,
    http_server,
    over_http,
    over_stdio,
    said,
    together,
)

SESSION = "all-together"


async def save(client: Client, acknowledged: set[str], note: str) -> None:
    answer = await said(client, "save_memory", compartment="session", content=note, id=note)
    assert re.match(rf"Saved in session as {note}\b", answer)
    acknowledged.add(note)


async def pipelined(client: Client, acknowledged: set[str], notes: list[str]) -> None:
    await together([partial(save, client, acknowledged, note) for note in notes])


def stored(root: Path) -> list[str]:
    with Memory.open(root) as memory:
        return [entry.text for entry in memory.get_entries(SESSION)]


@pytest.mark.parametrize("generation", VERSIONS)
def test_fifty_pipelined_saves_on_one_connection_are_all_there(root, generation):
    acknowledged: set[str] = set()

    async def story():
        async with over_stdio(root, "--session", SESSION, mode=generation) as client:
            await pipelined(client, acknowledged, [f"note-{number}" for number in range(50)])

    anyio.run(story)
    assert len(acknowledged) == 50
    assert sorted(stored(root)) == sorted(acknowledged)


def test_two_servers_on_one_root_lose_none_of_two_hundred_saves(root):
    acknowledged: set[str] = set()

    async def client_of_one(name: str):
        async with over_stdio(root, "--session", SESSION) as client:
            await pipelined(client, acknowledged, [f"{name}-{number}" for number in range(100)])

    async def story():
        await together([partial(client_of_one, name) for name in ("left", "right")])

    anyio.run(story)
    assert len(acknowledged) == 200
    assert sorted(stored(root)) == sorted(acknowledged)


def test_eight_clients_of_one_http_server_lose_nothing(root):
    acknowledged: set[str] = set()

    async def one_client(address: Address, number: int):
        generation = (HANDSHAKE, ENVELOPE)[number % 2]
        async with over_http(address, generation) as client:
            await pipelined(client, acknowledged, [f"{number}-{note}" for note in range(10)])

    async def story(address: Address):
        await together([partial(one_client, address, number) for number in range(8)])

    words = ("-m", "mnemolog", "--root", str(root), "mcp", "--http", "--port", "0")
    with http_server(root, *words, "--session", SESSION) as address:
        anyio.run(story, address)
    assert len(acknowledged) == 80
    assert sorted(stored(root)) == sorted(acknowledged)
